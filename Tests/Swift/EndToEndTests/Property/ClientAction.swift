/// An action of a client on a job, and when it happens.
struct ClientAction: Sendable {
    enum Kind: Sendable {
        case pause, resume, retry
        case cancel(keepingPart: Bool)
        case patchConnections(Int), patchRate(Int?), patchURL(Place)
        /// Another job adopts this job's part, and the following actions act on that job.
        case handOver(to: Place, ofAnotherFile: Bool)
    }

    /// A condition, not a time. It is not waited for once the job is at rest, as it may never come then.
    enum Moment: Sendable {
        case atOnce
        /// The file was requested this many times.
        case requests(Int)
        /// The job has received this many bytes.
        case received(Int)
        /// A checkpoint has made some bytes durable.
        case durable
        /// The job is paused or terminal.
        case rest
    }

    var moment: Moment
    var kind: Kind
}

// MARK: - Random actions

extension ClientAction {
    /// A few actions in a sensible order.
    static func random(size: Int, _ choices: inout SeededChoices) -> [ClientAction] {
        let early = moment(size, &choices)
        let heir = Kind.handOver(to: choices.pick(Place.allCases), ofAnotherFile: choices.chance(15))
        switch choices.number(1...10) {
        case 1...3: return [ClientAction(moment: early, kind: .pause), ClientAction(moment: .atOnce, kind: .resume)]
        case 4: return [ClientAction(moment: early, kind: .pause), ClientAction(moment: .atOnce, kind: heir)]
        case 5:
            return [
                ClientAction(moment: early, kind: .cancel(keepingPart: true)), ClientAction(moment: .rest, kind: heir),
            ]
        case 6:
            return [
                ClientAction(moment: early, kind: .cancel(keepingPart: choices.chance(70))),
                ClientAction(moment: .rest, kind: .retry),
            ]
        case 7: return [ClientAction(moment: early, kind: .patchURL(choices.pick(Place.allCases)))]
        case 8: return [ClientAction(moment: early, kind: .patchConnections(choices.number(1...16)))]
        case 9:
            return [ClientAction(moment: early, kind: .patchRate(choices.chance(50) ? nil : max(200_000, size / 2)))]
        default: return [ClientAction(moment: .rest, kind: .retry)]
        }
    }

    private static func moment(_ size: Int, _ choices: inout SeededChoices) -> Moment {
        switch choices.number(1...10) {
        case 1...5: .received(choices.offset(within: size))
        case 6...8: .requests(choices.number(1...8))
        case 9: .durable
        default: .atOnce
        }
    }
}

extension ClientAction: CustomStringConvertible {
    var description: String { "\(moment.description): \(kind.description)" }
}

extension ClientAction.Moment: CustomStringConvertible {
    var description: String {
        switch self {
        case .atOnce: "at once"
        case .requests(let count): "after \(count) requests"
        case .received(let bytes): "after \(bytes) bytes"
        case .durable: "after a checkpoint"
        case .rest: "at rest"
        }
    }
}

extension ClientAction.Kind: CustomStringConvertible {
    var description: String {
        switch self {
        case .pause: "pause"
        case .resume: "resume"
        case .retry: "retry"
        case .cancel(let keepsPart): keepsPart ? "cancel, keeping what there is" : "cancel"
        case .patchConnections(let count): "\(count) connections"
        case .patchRate(let rate): rate.map { "\($0) bytes/s" } ?? "no rate limit"
        case .patchURL(let place): "another address: \(place)"
        case .handOver(let place, let isOther): "hand over to a job at \(place)" + (isOther ? " of another file" : "")
        }
    }
}
