import Formats

/// The outcome of a download, in the words of docs/transfers.md.
struct TransferOutcome: Equatable, CustomStringConvertible {
    /// The job's state, or the code of its failure.
    var state: String
    var decision: String
    var why: String
    var bytes: String

    var description: String { "\(state) | \(decision) | \(why) | \(bytes)" }

    init(state: String, decision: String, why: String, bytes: String) {
        (self.state, self.decision, self.why, self.bytes) = (state, decision, why, bytes)
    }

    init(_ job: JSON, bytes: String) {
        state = job["failure"]["code"].string ?? job["state"].string ?? ""
        decision = job["resume"]["decision"].string ?? "-"
        why = job["resume"]["why"].string ?? "-"
        self.bytes = bytes
    }

    /// "some" stands for any number of bytes, where the number varies.
    func isAs(documented row: TransferOutcome) -> Bool {
        var outcome = self
        if row.bytes == "some", bytes.hasPrefix("the first ") { outcome.bytes = row.bytes }
        return outcome == row
    }
}
