//! What is true about money operations: ids, money, records, evidence, the recovery table, the guard. No IO, no clock.
