//! What a customer is told in Vietnamese.

use super::Message;
use crate::domain::money::Money;

/// An amount as it is written in Vietnamese: points between thousands, a comma before decimals, the currency behind.
fn amount(money: &Money) -> String {
    let turned: String = money
        .amount_grouped()
        .chars()
        .map(|c| match c {
            ',' => '.',
            '.' => ',',
            other => other,
        })
        .collect();
    format!("{turned} {}", money.currency)
}

/// One paragraph. `paid`: what was taken once.
pub(super) fn say(message: Message, paid: Option<&Money>) -> String {
    let once = paid.map_or_else(
        || "Quý khách chỉ bị trừ tiền một lần.".to_owned(),
        |paid| format!("Quý khách chỉ bị trừ tiền một lần, {}.", amount(paid)),
    );
    match message {
        Message::Once => format!("{once} Chúng tôi không thấy khoản trừ tiền thứ hai nào cho lần mua này."),
        Message::Hold => format!(
            "{once} Dòng còn lại trên sao kê là một khoản tạm giữ. Không có tiền nào bị trừ cho dòng đó và ngân hàng sẽ \
             tự gỡ bỏ; thời gian tùy thuộc vào ngân hàng của quý khách."
        ),
        Message::Declined => format!(
            "{once} Một lần thanh toán trước đó đã bị từ chối và không có tiền nào bị trừ. Nếu ngân hàng vẫn hiển thị \
             lần đó, đó là một khoản tạm giữ mà ngân hàng sẽ tự gỡ bỏ."
        ),
        Message::Refunded => format!(
            "{once} Khoản còn lại đã được trả lại. Thời điểm hiển thị trên sao kê tùy thuộc vào ngân hàng của quý khách."
        ),
        Message::ShownTwice => format!(
            "{once} Hệ thống đã xác nhận với quý khách nhiều hơn một lần, nhưng đó chỉ là một giao dịch và một lần trừ tiền."
        ),
        Message::Twice => "Quý khách nói đúng: chúng tôi thấy có nhiều hơn một lần trừ tiền cho lần mua này. Chúng tôi \
            thành thật xin lỗi. Bộ phận thanh toán đang kiểm tra và chúng tôi sẽ báo lại ngay khi có thông tin. Xin quý \
            khách vui lòng không thanh toán lại."
            .to_owned(),
        Message::Nothing => "Chúng tôi không thấy khoản trừ tiền nào cho lần mua này. Nếu ngân hàng hiển thị một số \
            tiền, đó là khoản tạm giữ hoặc khoản đã được trả lại, và ngân hàng sẽ tự gỡ bỏ."
            .to_owned(),
        Message::TwoOrders => "Chúng tôi thấy có hai lần mua riêng biệt, mỗi lần chỉ bị trừ tiền một lần. Nếu quý khách \
            chỉ định mua một lần, xin vui lòng cho chúng tôi biết để cùng kiểm tra các đơn hàng."
            .to_owned(),
        Message::PaidNotShown => "Chúng tôi đã tìm thấy khoản thanh toán của quý khách. Tiền chỉ bị trừ một lần và hệ \
            thống của chúng tôi chưa hiển thị khoản này. Bộ phận thanh toán đang điều chỉnh. Xin quý khách vui lòng không \
            thanh toán lại."
            .to_owned(),
        Message::Checking => "Cảm ơn quý khách đã thông báo. Hiện chúng tôi chưa thể khẳng định số tiền đã bị trừ, vì vậy \
            bộ phận thanh toán đang kiểm tra với nhà cung cấp dịch vụ thanh toán. Chúng tôi sẽ báo lại ngay khi có kết \
            quả. Xin quý khách vui lòng không thanh toán lại cho đến lúc đó."
            .to_owned(),
    }
}
