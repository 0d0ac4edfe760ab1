//! The throw-away world the console is practised and tested on: cluster, payment service, provider, incidents.
