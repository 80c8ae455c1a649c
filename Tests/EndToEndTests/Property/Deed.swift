/// An action of a client on a job, and when it happens.
struct Deed: Sendable {
    enum Kind: Sendable {
        case pause, resume, retry
        case cancel(keepingPart: Bool)
        case patchConnections(Int), patchRate(Int?), patchURL(Place)
        /// Another job adopts this job's part, and the following deeds act on that job.
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

/// A kill or stop of the whole service, and when it happens.
struct Blow: Sendable {
    enum Kind: String, Sendable { case kill, terminate }

    enum Moment: Sendable {
        /// All files together were requested this many times.
        case requests(Int)
        /// A checkpoint has made some bytes of a job durable.
        case durable
    }

    var moment: Moment
    var kind: Kind
}

// MARK: - Random deeds

extension Deed {
    /// A few deeds in a sensible order.
    static func random(size: Int, _ dice: inout Dice) -> [Deed] {
        let early = moment(size, &dice)
        let heir = Kind.handOver(to: dice.pick(Place.allCases), ofAnotherFile: dice.chance(15))
        switch dice.number(1...10) {
        case 1...3: return [Deed(moment: early, kind: .pause), Deed(moment: .atOnce, kind: .resume)]
        case 4: return [Deed(moment: early, kind: .pause), Deed(moment: .atOnce, kind: heir)]
        case 5: return [Deed(moment: early, kind: .cancel(keepingPart: true)), Deed(moment: .rest, kind: heir)]
        case 6:
            return [
                Deed(moment: early, kind: .cancel(keepingPart: dice.chance(70))), Deed(moment: .rest, kind: .retry),
            ]
        case 7: return [Deed(moment: early, kind: .patchURL(dice.pick(Place.allCases)))]
        case 8: return [Deed(moment: early, kind: .patchConnections(dice.number(1...16)))]
        case 9: return [Deed(moment: early, kind: .patchRate(dice.chance(50) ? nil : max(200_000, size / 2)))]
        default: return [Deed(moment: .rest, kind: .retry)]
        }
    }

    private static func moment(_ size: Int, _ dice: inout Dice) -> Moment {
        switch dice.number(1...10) {
        case 1...5: .received(dice.offset(within: size))
        case 6...8: .requests(dice.number(1...8))
        case 9: .durable
        default: .atOnce
        }
    }
}

extension Blow {
    static func random(_ dice: inout Dice) -> Blow {
        Blow(
            moment: dice.chance(40) ? .durable : .requests(dice.number(1...15)),
            kind: dice.chance(70) ? .kill : .terminate)
    }
}

extension Deed: CustomStringConvertible {
    var description: String { "\(moment.description): \(kind.description)" }
}

extension Deed.Moment: CustomStringConvertible {
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

extension Deed.Kind: CustomStringConvertible {
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

extension Blow: CustomStringConvertible {
    var description: String {
        let when =
            switch moment {
            case .requests(let count): "after \(count) requests in all"
            case .durable: "after a checkpoint"
            }
        return "\(when): \(kind.rawValue) and restart the service"
    }
}
