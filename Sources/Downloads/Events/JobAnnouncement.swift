import Formats
import HTTPSemantics

/// The data of the events about a job.
extension Job {
    /// The data of the event that reports the state that the job has just entered.
    public func announcement(_ type: EventType) -> JSONObject {
        switch type {
        case .jobSucceeded, .jobFailed, .jobCancelled: ["snapshot": document(for: .journal)]
        case .jobWaiting:
            [
                "reason": .optional(state.wait?.name.rawValue), "retry_at": .optional(state.wait?.until),
                "challenge": state.wait?.challenge?.document ?? .null,
                "failure": state.wait?.cause.document ?? .null,
            ]
        case .jobStarted: ["attempt": .count(attempts)]
        case .jobCreated: ["url": .string(URLRule.redacted(spec.url))]
        case .jobResumed:
            ["offset": .integer(resumedOffset), "bytes_expected": .optional(bytesExpected)]
        case .jobRestarted: ["why": .optional(restartReason?.rawValue)]
        case .jobMoved: ["queue_rank": .optional(queueRank?.text)]
        case .jobPaused: ["bytes_durable": .integer(bytesDurable)]
        case .jobDeleted, .sessionWaiting, .sessionFinished, .webhookDisabled, .webhookTest: [:]
        }
    }

    private var resumedOffset: Int64 { if case .resumed(let offset, _)? = resume { offset } else { 0 } }

    private var restartReason: ResumeOutcome.RestartReason? {
        if case .restarted(let why)? = resume { why } else { nil }
    }
}
