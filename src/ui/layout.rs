//! Where things stand at each size.
//!
//! Owns the breakpoints: under 80x24 one column of cards (never a refusal), 80x24 one pane, from
//! 120 columns a preview pane, from 140x40 two columns. Must not know what is drawn.

use ratatui::layout::Rect;

/// How much room there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Room {
    /// Under 80x24: one column, each record a card.
    Card,
    /// 80x24: one pane.
    One,
    /// From 120 columns: a list and a preview beside it.
    Preview,
    /// From 140x40: two columns of panels.
    Two,
}

impl Room {
    /// The room an area gives.
    pub fn of(area: Rect) -> Self {
        match (area.width, area.height) {
            (140.., 40..) => Self::Two,
            (120.., 24..) => Self::Preview,
            (80.., 24..) => Self::One,
            _ => Self::Card,
        }
    }

    /// True from two panes on.
    pub fn has_preview(self) -> bool {
        self >= Self::Preview
    }
}

/// The fixed parts of every screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Line 1: where we are, how old the picture is, the time.
    pub band: Rect,
    /// Line 2: screens, or where in them.
    pub tabs: Rect,
    /// Line 3: a rule.
    pub rule: Rect,
    /// Between: the screen's own.
    pub body: Rect,
    /// Last line but one: what just happened, or an input line.
    pub notice: Rect,
    /// Last line: the keys.
    pub footer: Rect,
    /// How much room there is.
    pub room: Room,
}

impl Page {
    /// Cuts an area into the parts; what finds no room is empty.
    pub fn of(area: Rect) -> Self {
        let room = Room::of(area);
        let (band, rest) = top(area, 1);
        let (tabs, rest) = top(rest, u16::from(area.height >= 4));
        let (rule, rest) = top(rest, u16::from(area.height >= 12));
        let (rest, footer) = bottom(rest, u16::from(area.height >= 3));
        let (body, notice) = bottom(rest, u16::from(area.height >= 6));
        Self { band, tabs, rule, body, notice, footer, room }
    }
}

/// The first `height` rows, and the rest.
pub fn top(area: Rect, height: u16) -> (Rect, Rect) {
    let height = height.min(area.height);
    let rest = Rect { y: area.y.saturating_add(height), height: area.height.saturating_sub(height), ..area };
    (Rect { height, ..area }, rest)
}

/// All but the last `height` rows, and those.
pub fn bottom(area: Rect, height: u16) -> (Rect, Rect) {
    let height = height.min(area.height);
    top(area, area.height.saturating_sub(height))
}

/// The first `width` columns, and the rest after a gap of one.
pub fn left(area: Rect, width: u16) -> (Rect, Rect) {
    let width = width.min(area.width);
    let x = area.x.saturating_add(width).saturating_add(1).min(area.right());
    (Rect { width, ..area }, Rect { x, width: area.right().saturating_sub(x), ..area })
}

/// Two columns, the left one taking `share` of a hundred.
pub fn columns(area: Rect, share: u16) -> (Rect, Rect) {
    let width = u32::from(area.width).saturating_mul(u32::from(share)) / 100;
    left(area, u16::try_from(width).unwrap_or(area.width))
}

/// Without one column on each side.
pub fn inset(area: Rect) -> Rect {
    let gap = u16::from(area.width > 2);
    Rect { x: area.x.saturating_add(gap), width: area.width.saturating_sub(gap.saturating_mul(2)), ..area }
}

/// A box in the middle, at most this large and never larger than the area.
pub fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect {
        x: area.x.saturating_add(area.width.saturating_sub(width) / 2),
        y: area.y.saturating_add(area.height.saturating_sub(height) / 3),
        width,
        height,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn breakpoints() {
        let room = |w, h| Room::of(Rect::new(0, 0, w, h));
        assert_eq!(room(80, 24), Room::One);
        assert_eq!(room(79, 24), Room::Card);
        assert_eq!(room(80, 23), Room::Card);
        assert_eq!(room(120, 32), Room::Preview);
        assert_eq!(room(140, 39), Room::Preview);
        assert_eq!(room(140, 40), Room::Two);
        assert_eq!(room(1, 1), Room::Card);
    }

    proptest! {
        #[test]
        fn parts_lie_inside_and_do_not_overlap(w in 0u16..200, h in 0u16..80) {
            let area = Rect::new(0, 0, w, h);
            let page = Page::of(area);
            let parts = [page.band, page.tabs, page.rule, page.body, page.notice, page.footer];
            for (i, a) in parts.iter().enumerate() {
                prop_assert!(a.is_empty() || area.intersection(*a) == *a);
                for b in parts.iter().skip(i + 1) {
                    prop_assert!(a.is_empty() || b.is_empty() || !a.intersects(*b));
                }
            }
        }
    }
}
