//! The lab's provider behaves like a real one where it matters: keys, look-ups, pages, silence.

use serde_json::{Value, json};
use unstuck::lab::provider::{Answer, Fate, LabProvider, Mood, Reach};

async fn get(url: String) -> (u16, Value) {
    let client = reqwest::Client::builder().no_proxy().user_agent("a-test").build().unwrap();
    let answer = client.get(url).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

async fn charge(provider: &LabProvider, key: &str, order: &str, amount: i64) -> (u16, Value) {
    let client = reqwest::Client::builder().no_proxy().timeout(std::time::Duration::from_secs(20)).build().unwrap();
    let body = json!({"order_id": order, "reference": format!("pay_{order}"), "amount": amount, "currency": "EUR"});
    let answer = client
        .post(format!("{}/v1/charges", provider.url()))
        .header("idempotency-key", key)
        .json(&body)
        .send()
        .await
        .unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

async fn started() -> LabProvider {
    // Clients of this build want a TLS provider even for plain HTTP; the service's clients install it, too.
    rustls::crypto::ring::default_provider().install_default().ok();
    LabProvider::start(1).await.unwrap()
}

#[tokio::test]
async fn one_key_is_one_charge() {
    let provider = started().await;
    let (first, made) = charge(&provider, "k", "ord_1", 100).await;
    let (second, same) = charge(&provider, "k", "ord_1", 100).await;
    let (third, error) = charge(&provider, "k", "ord_1", 250).await;
    assert_eq!((first, second, third), (201, 200, 400));
    assert_eq!(made, same);
    assert_eq!(error["error"]["code"], "idempotency_error");
    assert_eq!(
        (&made["livemode"], &made["captured"], &made["status"]),
        (&json!(false), &json!(100), &json!("succeeded"))
    );
    assert_eq!(provider.desk().charges_for_order("ord_1"), 1);
    assert_eq!(get(format!("{}/v1/charges/{}", provider.url(), made["id"].as_str().unwrap())).await, (200, made));
}

#[tokio::test]
async fn a_key_in_flight_is_a_conflict() {
    let provider = started().await;
    provider.desk().destine("ord_2", Fate { answer: Answer::Lost, ..Fate::default() });
    let lost = charge(&provider, "k", "ord_2", 100);
    let mut lost = Box::pin(lost);
    let made = tokio::select! {
        _ = &mut lost => false,
        made = async { provider.desk().wait_for_charge("ord_2", std::time::Duration::from_secs(30)).await } => made,
    };
    assert!(made, "made, and its answer never sent");
    assert_eq!(charge(&provider, "k", "ord_2", 100).await.0, 200);
    provider.desk().destine("ord_3", Fate { latency: Some(std::time::Duration::from_secs(3)), ..Fate::default() });
    let (first, second) = tokio::join!(charge(&provider, "k3", "ord_3", 1), async {
        while !provider.desk().access_log().iter().any(|access| access.method == "POST") {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        charge(&provider, "k3", "ord_3", 1).await
    });
    let mut codes = [first.0, second.0];
    codes.sort_unstable();
    assert_eq!(codes, [201, 409]);
}

#[tokio::test]
async fn look_ups_page_to_their_end_and_absence_has_its_own_words() {
    let provider = started().await;
    for n in 0..5 {
        charge(&provider, &format!("k{n}"), "ord_many", 100 + n).await;
    }
    let base = format!("{}/v1/charges", provider.url());
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let (code, page) = get(format!("{base}?order_id=ord_many&limit=2{cursor}")).await;
        assert_eq!(code, 200);
        let data = page["data"].as_array().unwrap().clone();
        seen.extend(data.iter().map(|charge| charge["amount"].as_i64().unwrap()));
        if page["has_more"] == false {
            break;
        }
        cursor = format!("&starting_after={}", data.last().unwrap()["id"].as_str().unwrap());
    }
    assert_eq!(seen, [100, 101, 102, 103, 104]);
    assert_eq!(
        get(format!("{base}?idempotency_key=k3&reference=pay_ord_many")).await.1["data"].as_array().unwrap().len(),
        1
    );
    assert_eq!(get(format!("{base}?idempotency_key=never")).await, (200, json!({"data": [], "has_more": false})));
    let (code, body) = get(format!("{base}/ch_nothing")).await;
    assert_eq!((code, &body["error"]["code"]), (404, &json!("charge_not_found")));
    let (code, body) = get(format!("{}/v2/anything", provider.url())).await;
    assert_eq!((code, &body["error"]["code"]), (404, &json!("no_such_route")));
}

#[tokio::test]
async fn an_outage_is_no_answer_about_charges() {
    let provider = started().await;
    provider.desk().set_mood(Mood { reading: Reach::Unavailable, ..Mood::default() });
    assert_eq!(get(format!("{}/v1/charges?reference=x", provider.url())).await.0, 503);
    let log = provider.desk().access_log();
    assert_eq!(log.len(), 1);
    assert_eq!(
        (log[0].method.as_str(), log[0].path.as_str(), log[0].client.as_str()),
        ("GET", "/v1/charges?reference=x", "a-test")
    );
}
