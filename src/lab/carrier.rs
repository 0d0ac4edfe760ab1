//! The carrier: somebody else again, who takes parcels over loopback HTTP. Being down for hours is its habit.
//!
//! `POST /v1/shipments` with an `Idempotency-Key`: 201 a parcel, 200 the same parcel again, 503 when it is down.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;

use super::provider::Reach;
use super::task::Task;
use super::{LabError, http};

/// A running carrier; dropping it closes it.
#[derive(Debug)]
pub struct Carrier {
    address: SocketAddr,
    desk: CarrierDesk,
    _server: Task,
}

/// What scripts and tests may do with a running carrier. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct CarrierDesk(Arc<Mutex<Inside>>);

#[derive(Debug, Default)]
struct Inside {
    reach: Reach,
    parcels: BTreeMap<String, Parcel>,
    asked: usize,
}

/// A parcel on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parcel {
    /// `shp_…`
    pub id: String,
    /// The order in it.
    pub order: String,
}

impl Carrier {
    /// Listens on a free loopback port.
    ///
    /// # Errors
    /// [`LabError::Listen`].
    pub async fn start() -> Result<Self, LabError> {
        let (listener, address) = http::listen().await?;
        let desk = CarrierDesk::default();
        let router = Router::new().route("/v1/shipments", post(ship)).with_state(desk.clone());
        let server = Task::spawn(async move {
            axum::serve(listener, router).await.ok();
        });
        Ok(Self { address, desk, _server: server })
    }

    /// Base URL, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The handle for scripts and tests.
    pub fn desk(&self) -> CarrierDesk {
        self.desk.clone()
    }
}

impl CarrierDesk {
    /// Whether it answers from now on.
    pub fn set_reach(&self, reach: Reach) {
        self.with(|state| state.reach = reach);
    }

    /// The parcels of an order. More than one is a parcel too many.
    pub fn parcels(&self, order: &str) -> Vec<Parcel> {
        self.with(|state| state.parcels.values().filter(|parcel| parcel.order == order).cloned().collect())
    }

    /// How often it was asked to ship, served or not.
    pub fn asked(&self) -> usize {
        self.with(|state| state.asked)
    }

    fn with<T>(&self, work: impl FnOnce(&mut Inside) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[derive(Debug, Deserialize)]
struct ShipBody {
    order_id: String,
}

async fn ship(State(desk): State<CarrierDesk>, headers: HeaderMap, Json(body): Json<ShipBody>) -> Response {
    let Some(key) = headers.get("idempotency-key").and_then(|value| value.to_str().ok()) else {
        return (StatusCode::BAD_REQUEST, Json(json!({"error": "Idempotency-Key is required"}))).into_response();
    };
    let reach = desk.with(|state| {
        state.asked += 1;
        state.reach
    });
    match reach {
        Reach::Up => {}
        Reach::Unavailable => {
            return (StatusCode::SERVICE_UNAVAILABLE, Json(json!({"error": "closed"}))).into_response();
        }
        Reach::Silent => std::future::pending::<()>().await,
    }
    let (code, parcel) = desk.with(|state| {
        if let Some(parcel) = state.parcels.get(key) {
            return (StatusCode::OK, parcel.clone());
        }
        let parcel = Parcel { id: format!("shp_{:04}", state.parcels.len() + 1), order: body.order_id.clone() };
        state.parcels.insert(key.to_owned(), parcel.clone());
        (StatusCode::CREATED, parcel)
    });
    (code, Json(json!({"id": parcel.id, "order_id": parcel.order}))).into_response()
}
