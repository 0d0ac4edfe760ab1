//! A recoverer of one's own: what a payments team ports. `docs/recoverer.md` shows this file, and a test runs it.

use sqlx::PgPool;

/// What the provider says when it is asked with GET, by your key and your reference, in a list that misses nothing.
pub enum Seen {
    /// Final: one charge that is this payment's, with its amount; or a no, with the reason.
    Charged(String),
    Declined(String),
    Absent,
    /// Anything else: no answer, pending, several charges, another amount.
    NotCertain(String),
}

/// Your service's own code. `attempt`: every write says `WHERE status = 'processing' AND attempt = $n`.
pub trait Yours {
    async fn look_up(&self, scope: &str, key: &str) -> Seen;
    /// Charges with the provider key the record already has; `NotCertain` when there was no answer.
    async fn charge(&self, scope: &str, key: &str) -> Seen;
    /// Payment, record, transitions and outbox in one transaction; false: somebody took the record from us.
    async fn finish(&self, scope: &str, key: &str, attempt: i64, how: &Seen) -> bool;
}

/// Serves what waits. Run it when `unstuck_resume` is notified, and every few seconds. `me`: this worker's name.
pub async fn serve(db: &PgPool, me: &str, lease_s: f64, yours: &impl Yours) -> Result<(), sqlx::Error> {
    let waiting = "SELECT id, scope, key, attempt FROM unstuck.recoverer_waiting()";
    for (id, scope, key, attempt) in sqlx::query_as::<_, (i64, String, String, i64)>(waiting).fetch_all(db).await? {
        // The hand back and the lease in one transaction: both or neither.
        let mut tx = db.begin().await?;
        let take = sqlx::query_as("SELECT outcome, why FROM unstuck.recoverer_take($1, $2)").bind(id).bind(me);
        let (outcome, why): (String, Option<String>) = take.fetch_one(&mut *tx).await?;
        let lease = "UPDATE idempotency_keys SET attempt = attempt + 1, locked_by = $4, locked_until = clock_timestamp() + make_interval(secs => $5)
            WHERE scope = $1 AND key = $2 AND attempt = $3 AND status = 'processing' AND locked_until < clock_timestamp()";
        let lease = sqlx::query(lease).bind(&scope).bind(&key).bind(attempt).bind(me).bind(lease_s);
        match outcome.as_str() {
            "taken" if lease.execute(&mut *tx).await?.rows_affected() == 1 => tx.commit().await?,
            "taken" => continue,
            "conflict" => {
                tx.commit().await?;
                continue;
            }
            _ => {
                tx.commit().await?;
                close(db, id, me, "refused", &why.unwrap_or_default()).await?;
                continue;
            }
        }
        let mut seen = yours.look_up(&scope, &key).await;
        if matches!(seen, Seen::Absent) {
            // The hand back is the proof that nothing was charged, and your look-up agrees. Ask right before you send:
            // whoever slept past the lease or past not_after sends nothing.
            let in_time = "SELECT count(*) FROM idempotency_keys k, unstuck.recoverer_unfinished() u
                WHERE u.id = $1 AND k.scope = u.scope AND k.key = u.key AND k.status = 'processing' AND k.attempt = u.attempt + 1
                AND least(k.locked_until, u.not_after) > clock_timestamp()";
            if sqlx::query_scalar::<_, i64>(in_time).bind(id).fetch_one(db).await? == 0 {
                close(db, id, me, "refused", "too late: nothing was sent").await?;
                continue;
            }
            seen = yours.charge(&scope, &key).await;
            // Sent, and no word: leave it open. Your ordinary recovery looks it up when the lease is over.
            if matches!(seen, Seen::NotCertain(_) | Seen::Absent) {
                continue;
            }
        }
        if let Seen::NotCertain(why) = &seen {
            close(db, id, me, "refused", why).await?;
        } else if yours.finish(&scope, &key, attempt + 1, &seen).await {
            close(db, id, me, "finished", "see the payment").await?;
        }
    }
    // What somebody took and did not end, yourself before a restart included: closed when the record is done.
    let done = "SELECT u.id, u.worker FROM unstuck.recoverer_unfinished() u JOIN idempotency_keys k USING (scope, key) WHERE k.status = 'done'";
    for (id, worker) in sqlx::query_as::<_, (i64, String)>(done).fetch_all(db).await? {
        close(db, id, &worker, "finished", "found it done").await?;
    }
    Ok(())
}

async fn close(db: &PgPool, id: i64, worker: &str, how: &str, detail: &str) -> Result<(), sqlx::Error> {
    let close = sqlx::query("SELECT outcome FROM unstuck.recoverer_close($1, $2, $3, $4)").bind(id).bind(worker);
    close.bind(how).bind(detail).execute(db).await.map(drop)
}
