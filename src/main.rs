//! TEMPORARY main
use std::io::IsTerminal as _;
use unstuck::cli::demo::{DemoOptions, Stage};
fn main() -> color_eyre::Result<()> {
    color_eyre::install()?;
    unstuck::shell::terminal::install_panic_hook();
    let rt = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    rt.block_on(async {
        let incident = unstuck::lab::incident::find(&std::env::args().nth(2).unwrap_or("oom-kill".into()))?;
        let look = unstuck::ui::Look::new(unstuck::ui::Theme::named("dark")?, unstuck::ui::Charset::Unicode);
        let stage = Stage::start(DemoOptions {
            incident,
            seed: 7,
            look,
            operator: unstuck::domain::ids::Operator::new("dana"),
        })
        .await?;
        println!("{}", stage.sentence());
        if std::io::stdout().is_terminal() { stage.console().await } else { stage.headless(|l| println!("{l}")).await }
    })
}
