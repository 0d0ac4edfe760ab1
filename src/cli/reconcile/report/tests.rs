//! Every provider's columns, and what happens to files on their way.

use super::*;
use crate::cli::reconcile::format::FORMATS;

fn form(name: &str) -> &'static Format {
    FORMATS.iter().find(|format| format.name == name).expect("a form")
}

fn loaded(name: &str, text: impl AsRef<[u8]>) -> Result<(Vec<Line>, Summary), BadReport> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.csv");
    std::fs::write(&file, text).expect("a file");
    let mut lines = Vec::new();
    let summary = read(&file, form(name), &mut |_, line| {
        lines.push(line);
        Ok(())
    })?;
    Ok((lines, summary))
}

fn told(lines: &[Line]) -> Vec<String> {
    let each = lines
        .iter()
        .map(|line| format!("{} {} {}", line.kind.word(), line.reference.as_deref().unwrap_or("-"), line.money));
    each.collect()
}

#[test]
fn stripe_is_read_by_the_names_of_its_columns() {
    let text = "\u{feff}balance_transaction_id,created_utc,available_on_utc,currency,gross,fee,net,reporting_category,source_id,automatic_payout_id,charge_id,payment_intent_id,payment_metadata[order_id]\r\n\
        txn_1,2026-03-01 10:00:00,2026-03-03,eur,\"1,128.40\",3.00,1125.40,charge,ch_1,po_1,ch_1,pi_1,A1\r\n\
        txn_2,2026-03-01 11:00:00,2026-03-03,jpy,500,0,500,charge,ch_2,po_1,,pi_2,\"A\n2\"\r\n\
        txn_3,2026-03-02 11:00:00,2026-03-03,eur,-28.40,0,-28.40,refund,re_1,po_1,ch_1,pi_1,A1\r\n\
        txn_4,2026-03-02 12:00:00,2026-03-03,eur,-1100.00,0,-1100.00,payout,po_1,po_1,,,\r\n";
    let (lines, summary) = loaded("stripe", text).expect("a report");
    assert_eq!(
        told(&lines),
        ["charge ch_1 EUR 1,128.40", "charge ch_2 JPY 500", "refund ch_1 EUR -28.40", "other po_1 EUR -1,100.00"]
    );
    assert_eq!((lines[1].order.as_deref(), summary.lines, summary.stated), (Some("A\n2"), 4, None));
    let turned = "gross;currency;reporting_category;created_utc;balance_transaction_id;source_id\n5,00;eur;charge;2026-03-01 10:00:00;txn_1;ch_1\n";
    assert_eq!(told(&loaded("stripe", turned).expect("a report").0), ["charge ch_1 EUR 5.00"]);
}

#[test]
fn adyen_has_debit_and_credit_and_blank_lines_above() {
    let text = "\n\n,,\nType,Psp Reference,Merchant Reference,Creation Date,TimeZone,Gross Currency,Gross Debit (GC),Gross Credit (GC),Batch Number\n\
        Settled,8815,A1,2026-03-01 11:00:00,CET,EUR,,128.40,7\nRefunded,8815,A1,2026-03-02 11:00:00,CET,EUR,28.40,,7\n\
        MerchantPayout,,,2026-03-02 11:00:00,CET,,,,7\n";
    let (lines, _) = loaded("adyen", text).expect("a report");
    assert_eq!(told(&lines), ["charge 8815 EUR 128.40", "refund 8815 EUR -28.40"]);
    assert_eq!(lines[0].at.expect("a time").to_rfc3339(), "2026-03-01T10:00:00+00:00");
}

#[test]
fn paypal_has_records_of_several_types_and_counts_them() {
    let text = |count: u32| {
        format!(
            "RH,2026/03/02 00:00:00 +0000,X,Y,010\nFH,1\nSH,2026/03/01 00:00:00 +0000,2026/03/01 23:59:59 +0000,ACC\n\
        CH,Transaction ID,Invoice ID,Transaction Event Code,Transaction Initiation Date,Transaction Debit or Credit,Gross Transaction Amount,Gross Transaction Currency,Custom Field\n\
        SB,5TY,A1,T0006,2026/03/01 10:00:00 +0000,CR,12840,EUR,\nSB,6TY,A1,T1107,2026/03/01 11:00:00 +0000,DR,2840,EUR,\nSF,EUR,0\nSC,2\nRF,EUR\nRC,{count}\nFF,1\n"
        )
    };
    let (lines, _) = loaded("paypal", text(2)).expect("a report");
    assert_eq!(told(&lines), ["charge 5TY EUR 128.40", "refund 6TY EUR -28.40"]);
    let why = loaded("paypal", text(3)).expect_err("a line is missing").to_string();
    assert_eq!(why, "it has 2 lines, and says that it has 3");
}

#[test]
fn the_foot_of_a_paypal_section_states_totals_that_must_agree() {
    let head = "RH,2026/03/02 00:00:00 +0000,X,Y,010\nFH,1\nSH,2026/03/01 00:00:00 +0000,2026/03/01 23:59:59 +0000,ACC\n\
        CH,Transaction ID,Invoice ID,Transaction Event Code,Transaction Initiation Date,Transaction Debit or Credit,Gross Transaction Amount,Gross Transaction Currency\n\
        SB,5TY,A1,T0006,2026/03/01 10:00:00 +0000,CR,12840,EUR\nSB,6TY,A1,T1107,2026/03/01 11:00:00 +0000,DR,2840,EUR\n\
        SB,7TY,A2,T0006,2026/03/01 12:00:00 +0000,CR,500,JPY\n";
    let foot =
        |euro: &str| format!("{head}SF,EUR,{euro},0,0,CR,0,CR,0\nSF,JPY,500,0,0,0,CR,0,CR,0\nSC,3\nRC,3\nFF,1\n");
    let (_, summary) = loaded("paypal", foot("12840,2840")).expect("a report");
    assert_eq!(summary.stated.map(|stated| stated.to_string()).as_deref(), Some("EUR 100.00 + JPY 500"));
    let why = loaded("paypal", foot("12840,2740")).expect_err("they differ").to_string();
    assert_eq!(why, "its lines of EUR add up to EUR 100.00, and it states EUR 101.00: the difference is EUR -1.00");
    let none = loaded("paypal", format!("{head}SF,USD,0,0,0,0\nSC,3\n")).expect("a section without lines");
    assert!(none.1.stated.is_some());
    for wrong in ["-12840,2840", "12840,x"] {
        assert!(loaded("paypal", foot(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn a_generic_report_states_totals_that_must_agree() {
    let head = "ref,type,amount,currency,at\n";
    let ok = format!("{head}a,charge,5.00,EUR,2026-03-01\nb,fee,-0.50,EUR,\n,total,4.50,EUR,\n");
    let (_, summary) = loaded("generic", &ok).expect("a report");
    assert_eq!(summary.stated.map(|stated| stated.to_string()).as_deref(), Some("EUR 4.50"));
    let wrong = loaded("generic", ok.replace("4.50", "5.00")).expect_err("it differs").to_string();
    assert_eq!(wrong, "its lines of EUR add up to EUR 4.50, and it states EUR 5.00: the difference is EUR -0.50");
    let minor = format!("{}KW,charge,1250,KWD,2026-03-01\n", head.replace("amount", "amount_minor"));
    assert_eq!(told(&loaded("generic", &minor).expect("a report").0), ["charge KW KWD 1.250"]);
}

#[test]
fn a_damaged_report_is_refused_with_its_line() {
    let head = "ref,type,amount,currency,at\n";
    let said = |text: &str| loaded("generic", text).expect_err("refused").to_string();
    assert!(said("").contains("no line that names its columns"));
    assert!(said("ref,amount\n").contains("the column \"type\" is missing"));
    assert!(
        said(&format!("{head}a,charge,5.00,EUR,2026-03-01\nb,charge,4.0"))
            .contains("line 3: the file ends in the middle")
    );
    assert!(
        said(&format!("{head}a,charge,5.00,EUR,2026-03-01\nb,cha")).contains("line 3: the file ends in the middle")
    );
    assert!(said(&format!("{head}a,charge\nb,charge,4.00,EUR,\n")).contains("line 2"));
    assert!(said(&format!("{head}a,charge,five,EUR,\n")).contains("line 2: \"five\" is not an amount of EUR"));
    assert!(said(&format!("{head}a,charge,5.00,EUR,soon\n")).contains("line 2: \"soon\" is not a time"));
    assert!(said(&format!("{head}a,charge,\"5.00,EUR,{}\n", "x".repeat(80_000))).contains("quote"));
    assert!(
        loaded("generic", b"ref,type,amount,currency,at\n\xff\xfe,charge,5,EUR,\n")
            .expect_err("refused")
            .to_string()
            .contains("UTF-8")
    );
    let whole = format!("{head}a,charge,5.00,EUR,2026-03-01");
    assert_eq!(loaded("generic", &whole).expect("a last line needs no line end").1.lines, 1);
}
