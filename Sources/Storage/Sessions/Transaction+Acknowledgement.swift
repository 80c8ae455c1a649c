import Downloads
import GRDB

extension Transaction {
    func acknowledgeFinishes(of session: Name, through event: EventID) throws {
        let batches = try rows(
            BatchRow.select + "WHERE session = ? AND state = 'finished' AND finish_event <= ?", [session.text, event])
        for row in batches {
            if let batch = try BatchRow.batch(row).after(.finishAcknowledged) { try update(batch) }
        }
    }
}
