//! scratch
use crate::support::picture::{draw, words};
use crate::support::second::*;

#[test]
fn scratch() {
    let show = |name: &str, console: &crate::support::console::Console| {
        println!("=== {name}\n{}", words(&draw(&console.model, 80, 24, console.now)));
    };
    let mut c = crate::support::console::Console::on(crate::support::scenario::incident());
    strict(&mut c);
    c.keys("2<Enter>al<Enter><Enter>ar");
    show("plan", &c);
    c.keys("<Enter>").write(REASON).keys("<Tab>").write("INC-2291").keys("<Enter>");
    show("send", &c);
    c.keys("<Enter>");
    show("asked", &c);
    c.keys("<Enter>");
    show("record", &c);
    c.keys("ar");
    show("waits", &c);
    c.keys("w");
    show("own request", &c);
    c.keys("w");
    show("take back", &c);
    c.keys("<Esc>");
    c.wait(60);
    sits_down(&mut c, "lee");
    show("overview lee", &c);
    c.keys("8");
    show("audit lee", &c);
    c.keys("<Enter>");
    show("request lee", &c);
    c.keys("al<Enter><Enter>");
    show("request lee after look-up", &c);
    c.keys("A").write("approve prod");
    show("approve", &c);
    c.write(" shop-eu 7Q4K91 EUR 128.40").keys("<Enter>");
    show("approved", &c);
    sits_down(&mut c, "dana");
    c.keys("2<Enter>ar");
    show("dana refused", &c);
    c.keys("<Esc>al<Enter><Enter>ar");
    show("dana approved plan", &c);
    c.keys("<Enter>");
    show("dana reason", &c);
    c.keys("<Enter>").write(PHRASE).keys("<Enter>");
    show("dana done", &c);
    c.keys("<Enter>8");
    show("audit dana", &c);
    let mut c = asked_to_adopt("dark");
    c.keys("<Enter>");
    c.wait(590);
    c.poll_now();
    c.keys("al<Enter><Enter>ar");
    show("waits early", &c);
    c.keys("b");
    show("glass too early", &c);
    c.keys("<Esc>");
    c.wait(20);
    c.poll_now();
    c.keys("arb");
    show("glass", &c);
}
