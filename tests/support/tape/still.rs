//! A picture of the terminal's cells as PNG: what the README shows.
//!
//! The font comes with a crate, so that the pictures are the same on every machine.

use ab_glyph::{Font as _, FontRef, PxScale, ScaleFont as _, point};

use crate::support::view::{Glyph, View};

/// Height of a letter in pixels.
const LETTER: f32 = 18.0;
/// Around the picture, in pixels.
const MARGIN: usize = 14;

type Rgb = [u8; 3];

const PAPER: Rgb = [0x16, 0x18, 0x1d];
const INK: Rgb = [0xd7, 0xda, 0xe0];
/// The sixteen colours in the terminal's order, by their names in a [`Glyph`]'s look.
const COLOURS: &[(&str, Rgb)] = &[
    ("black", [0x2a, 0x2e, 0x36]),
    ("red", [0xf0, 0x71, 0x78]),
    ("green", [0x98, 0xc3, 0x79]),
    ("yellow", [0xe5, 0xc0, 0x7b]),
    ("blue", [0x61, 0xaf, 0xef]),
    ("magenta", [0xc6, 0x78, 0xdd]),
    ("cyan", [0x56, 0xb6, 0xc2]),
    ("white", [0xd7, 0xda, 0xe0]),
    ("brightblack", [0x7f, 0x84, 0x8e]),
    ("brightred", [0xff, 0x8a, 0x90]),
    ("brightgreen", [0xb5, 0xe0, 0x90]),
    ("brightyellow", [0xff, 0xd8, 0x8f]),
    ("brightblue", [0x82, 0xc4, 0xff]),
    ("brightmagenta", [0xdd, 0x97, 0xf0]),
    ("brightcyan", [0x7a, 0xd3, 0xde]),
    ("brightwhite", [0xff, 0xff, 0xff]),
];

/// Draws the screen as a PNG.
pub fn png(view: &View) -> Vec<u8> {
    let font = FontRef::try_from_slice(epaint_default_fonts::HACK_REGULAR).expect("the font is a font");
    let scaled = font.as_scaled(PxScale::from(LETTER));
    let cell = (whole(scaled.h_advance(font.glyph_id('M'))), whole(scaled.height()));
    let columns = view.rows.iter().map(Vec::len).max().unwrap_or(0);
    let size = (columns * cell.0 + 2 * MARGIN, view.rows.len() * cell.1 + 2 * MARGIN);
    let mut picture = Picture { size, pixels: vec![PAPER; size.0 * size.1] };
    for (row, glyphs) in view.rows.iter().enumerate() {
        for (column, glyph) in glyphs.iter().enumerate() {
            let at = (MARGIN + column * cell.0, MARGIN + row * cell.1);
            let (ink, paper) = colours(glyph);
            picture.fill(at, cell, paper);
            let Some(letter) = glyph.text.chars().next().filter(|c| !c.is_whitespace()) else { continue };
            let placed = font.glyph_id(letter).with_scale_and_position(LETTER, point(0.0, scaled.ascent()));
            let Some(outline) = font.outline_glyph(placed) else { continue };
            let bounds = outline.px_bounds();
            let (left, top) = (exact(at.0) + bounds.min.x, exact(at.1) + bounds.min.y);
            let place = |from: f32, step: u32| whole(from) + usize::try_from(step).unwrap_or(0);
            outline.draw(|x, y, cover| picture.blend((place(left, x), place(top, y)), ink, cover));
        }
    }
    picture.encoded()
}

struct Picture {
    size: (usize, usize),
    pixels: Vec<Rgb>,
}

impl Picture {
    fn fill(&mut self, at: (usize, usize), size: (usize, usize), colour: Rgb) {
        for y in at.1..at.1 + size.1 {
            self.pixels[y * self.size.0 + at.0..][..size.0].fill(colour);
        }
    }

    /// Lays ink over a pixel, as much as the letter covers it.
    fn blend(&mut self, (x, y): (usize, usize), ink: Rgb, cover: f32) {
        if x >= self.size.0 || y >= self.size.1 {
            return;
        }
        for (old, new) in self.pixels[y * self.size.0 + x].iter_mut().zip(ink) {
            let mixed = f32::from(*old) + (f32::from(new) - f32::from(*old)) * cover.clamp(0.0, 1.0);
            *old = u8::try_from(whole(mixed)).unwrap_or(u8::MAX);
        }
    }

    fn encoded(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let size = |pixels: usize| u32::try_from(pixels).expect("a picture of a screen is small");
        let mut encoder = png::Encoder::new(&mut bytes, size(self.size.0), size(self.size.1));
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().expect("a header");
        writer.write_image_data(self.pixels.as_flattened()).expect("as many pixels as the header says");
        writer.finish().expect("an end");
        bytes
    }
}

/// The nearest whole number.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixels and shades: small, and what is below zero is outside the picture"
)]
fn whole(length: f32) -> usize {
    length.round() as usize
}

/// A place in the picture, as the font counts.
fn exact(pixels: usize) -> f32 {
    f32::from(u16::try_from(pixels).unwrap_or(u16::MAX))
}

/// Ink and paper of a cell.
fn colours(glyph: &Glyph) -> (Rgb, Rgb) {
    let (ink, paper) = glyph.look.split_once(" on ").unwrap_or((&glyph.look, "default"));
    let has = |word: &str| glyph.look.split(' ').any(|w| w == word);
    let mut ink = colour(ink).unwrap_or(INK);
    let paper = colour(paper).unwrap_or(PAPER);
    if has("dim") {
        for (ink, paper) in ink.iter_mut().zip(paper) {
            *ink = u8::try_from((u16::from(*ink) * 3 + u16::from(paper) * 2) / 5).unwrap_or(*ink);
        }
    }
    if has("bold") && ink == INK {
        ink = [0xff, 0xff, 0xff];
    }
    if has("reverse") { (paper, ink) } else { (ink, paper) }
}

/// A colour by the first words of a look; none for the terminal's own.
fn colour(look: &str) -> Option<Rgb> {
    let mut words = look.split(' ');
    let word = words.next()?;
    if let Some(hex) = word.strip_prefix('#') {
        let part = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
        return Some([part(0)?, part(2)?, part(4)?]);
    }
    if word == "indexed" {
        return indexed(words.next()?.parse().ok()?);
    }
    COLOURS.iter().find(|(name, _)| *name == word).map(|(_, rgb)| *rgb)
}

/// A colour of the table of 256: the sixteen, a cube of 6 x 6 x 6, and 24 greys.
fn indexed(index: u8) -> Option<Rgb> {
    if let Some((_, rgb)) = COLOURS.get(usize::from(index)) {
        return Some(*rgb);
    }
    if let Some(grey) = index.checked_sub(232) {
        return Some([8 + grey * 10; 3]);
    }
    let cube = index.checked_sub(16)?;
    let shade = |step: u8| if step == 0 { 0 } else { 55 + step * 40 };
    Some([shade(cube / 36), shade(cube / 6 % 6), shade(cube % 6)])
}
