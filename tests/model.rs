//! The recovery protocol, every interleaving of it (ARCHITECTURE.md, "Every interleaving").

mod decide;
mod explore;
mod protocol;
mod state;
mod words;

use stateright::{Checker, Model};

use explore::Graph;
use protocol::{Protocol, Twist};

#[test]
fn probe() {
    for model in [Protocol::SMALL] {
        let began = std::time::Instant::now();
        println!("{} questions in {:?}", protocol::table().len(), began.elapsed());
        let checker = model.checker().threads(2).spawn_bfs().join();
        println!("{} states, {} generated, {:?}", checker.unique_state_count(), checker.state_count(), began.elapsed());
        for (name, path) in checker.discoveries() {
            println!("!! {name}");
            for pair in path.into_vec().windows(2) {
                println!("  {}", model.tell(&pair[0].0, pair[0].1.unwrap(), &pair[1].0));
            }
        }
        let graph = Graph::of(&model);
        println!("{} states {} edges, {} quiescent, {} stuck, {} without, {:?}", graph.states.len(), graph.edges, graph.quiescent, graph.stuck.len(), graph.stuck_without_the_service.len(), began.elapsed());
        for (words, times) in &graph.told { println!("{times:9} {words}"); }
        for state in graph.stuck.iter().take(2).chain(graph.stuck_without_the_service.iter().take(3)) { println!("{state:?}"); }
    }
}
