/// A kill or stop of the whole service, and when it happens.
struct ServiceInterruption: Sendable {
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

extension ServiceInterruption {
    static func random(_ choices: inout SeededChoices) -> ServiceInterruption {
        ServiceInterruption(
            moment: choices.chance(40) ? .durable : .requests(choices.number(1...15)),
            kind: choices.chance(70) ? .kill : .terminate)
    }
}

extension ServiceInterruption: CustomStringConvertible {
    var description: String {
        let when =
            switch moment {
            case .requests(let count): "after \(count) requests in all"
            case .durable: "after a checkpoint"
            }
        return "\(when): \(kind.rawValue) and restart the service"
    }
}
