//! Scratch.
use crate::support::{picture, scenario::*};

#[test]
#[ignore]
fn peek() {
    let size = std::env::var("SIZE").unwrap_or("80x24".into());
    let (w, h) = size.split_once('x').map(|(w, h)| (w.parse().unwrap(), h.parse().unwrap())).unwrap();
    let look = std::env::var("LOOK").unwrap_or("dark".into());
    let scene = std::env::var("SCENE").unwrap_or("incident".into());
    for keys in std::env::var("KEYS").unwrap_or_default().split('|') {
        let snapshot = match scene.as_str() {
            "calm" => calm(),
            "nothing" => nothing_known(),
            "hostile" => hostile(),
            _ => incident(),
        };
        let mut c = Console::with(snapshot, &look, unstuck::app::Acting::On);
        c.model.size = (w, h);
        if scene == "lost" {
            c.wait(5);
            c.fail();
            c.wait(4);
            c.fail();
            c.wait(30);
        }
        c.keys(keys);
        println!("=== {keys}\n{}", picture::words(&picture::draw(&c.model, w, h, c.now)));
    }
}
