import Downloads

/// How `attempt_requests` stores the stop of an attempt.
enum StoredStop {
    static func text(of stop: AttemptStop) throws -> String {
        switch stop {
        case .asked(.pause): "pause"
        case .asked(.cancel(keepsPart: false)): "cancel"
        case .asked(.cancel(keepsPart: true)): "cancel_keeping_part"
        case .overdue(let failure): try Stored.text(failure)
        }
    }

    static func stop(_ text: String) throws -> AttemptStop {
        switch text {
        case "pause": .asked(.pause)
        case "cancel": .asked(.cancel(keepsPart: false))
        case "cancel_keeping_part": .asked(.cancel(keepsPart: true))
        default: .overdue(try Stored.value(Failure.self, from: text))
        }
    }
}
