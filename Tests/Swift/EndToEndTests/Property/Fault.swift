import TestKit

/// One fault of the origin in one response. Offsets count bytes of the body, modulo its length.
enum Fault: Sendable {
    // Faults of the connection.
    case closing(after: Int), resetting(after: Int), stalling(after: Int)
    case hangingUp, silent, garbage, interim
    case limited(bytesPerSecond: Int)
    // Other responses than the file.
    case status(Int, retryAfter: String?)
    case page, redirect(to: Place), loop
    case unsatisfiable(Total)
    // Wrong or unusual heads of the file.
    case whole, shifted(by: Int), unasked, shortened(by: Int), openEnded
    case contentRange(first: Int, last: Int, total: Int), unknownTotal, noContentRange, multipart
    /// The range claims to start earlier than it does, and no length contradicts it.
    case falseStart(by: Int)
    case claimedLength(more: Int), chunked, untilClose, excess(Int), coded

    /// The total in a 416 response.
    enum Total: String, Sendable, CaseIterable { case truth, offset, other, none }
}

extension Fault: CustomStringConvertible {
    var description: String {
        switch self {
        case .closing(let bytes): "close after \(bytes)"
        case .resetting(let bytes): "reset after \(bytes)"
        case .stalling(let bytes): "stall after \(bytes)"
        case .hangingUp: "hang up"
        case .silent: "stay silent"
        case .garbage: "send garbage"
        case .interim: "interim answers first"
        case .limited(let rate): "\(rate) bytes/s"
        case .status(let status, let retryAfter): "\(status)" + (retryAfter.map { " (Retry-After: \($0))" } ?? "")
        case .page: "200 with a page that is not the file"
        case .redirect(let place): "redirect to \(place)"
        case .loop: "redirect to itself"
        case .unsatisfiable(let total): "416 with total: \(total)"
        case .whole: "200 with everything"
        case .shifted(let distance): "a true range \(distance) bytes off"
        case .unasked: "206, asked or not"
        case .shortened(let bytes): "a range \(bytes) bytes short"
        case .openEnded: "a range to the end of the file"
        case .contentRange(let first, let last, let total): "Content-Range off by \(first), \(last), \(total)"
        case .falseStart(let distance): "chunked, said to begin \(distance) bytes earlier"
        case .unknownTotal: "Content-Range without a total"
        case .noContentRange: "206 without Content-Range"
        case .multipart: "multipart/byteranges"
        case .claimedLength(let more): "Content-Length \(more) too large"
        case .chunked: "chunked"
        case .untilClose: "no length, closed at the end"
        case .excess(let bytes): "\(bytes) bytes more than the range"
        case .coded: "gzip that fetchd did not request"
        }
    }
}

// MARK: - Random faults

extension Fault {
    /// - Parameters:
    ///   - size: the file's size, for offsets that matter.
    ///   - isPatient: whether stalls take long, so that they should be rare.
    static func random(size: Int, isPatient: Bool, _ choices: inout SeededChoices) -> Fault {
        let offset = choices.offset(within: size)
        switch choices.number(1...100) {
        case 1...14: return .closing(after: offset)
        case 15...26: return .resetting(after: offset)
        case 27...30: return isPatient ? .closing(after: offset) : .stalling(after: offset)
        case 31...40: return wire(size, isPatient, &choices)
        case 41...54: return other(size, &choices)
        case 55...60: return .whole
        case 61...65: return .shifted(by: choices.pick([1, -1, 10, -10, 65_536, -65_536, offset, -offset]))
        case 66...70: return .shortened(by: choices.pick([1, 1000, max(1, offset)]))
        case 71...74: return .openEnded
        case 75...78: return .falseStart(by: choices.pick([1, 100, 65_536]))
        default: return told(size, &choices)
        }
    }

    private static func wire(_ size: Int, _ isPatient: Bool, _ choices: inout SeededChoices) -> Fault {
        choices.pick([
            .hangingUp, .garbage, .interim, isPatient ? .hangingUp : .silent,
            .limited(bytesPerSecond: max(20_000, size / choices.number(1...8))),
        ])
    }

    private static func other(_ size: Int, _ choices: inout SeededChoices) -> Fault {
        choices.pick([
            .status(503, retryAfter: "0"), .status(500, retryAfter: nil), .status(429, retryAfter: "0"),
            .status(404, retryAfter: nil), .status(403, retryAfter: nil), .status(204, retryAfter: nil), .page,
            .redirect(to: choices.pick(Place.allCases)), .redirect(to: choices.pick(Place.allCases)), .loop,
            .unsatisfiable(choices.pick(Total.allCases)), .unsatisfiable(choices.pick(Total.allCases)),
        ])
    }

    private static func told(_ size: Int, _ choices: inout SeededChoices) -> Fault {
        let distance = choices.pick([1, -1, 7, -7, 1000, -1000])
        return choices.pick([
            .contentRange(first: distance, last: 0, total: 0), .contentRange(first: 0, last: distance, total: 0),
            .contentRange(first: 0, last: 0, total: distance), .contentRange(first: distance, last: distance, total: 0),
            .contentRange(first: 0, last: distance, total: distance), .unknownTotal, .noContentRange, .multipart,
            .unasked, .claimedLength(more: choices.number(1...2000)), .chunked, .untilClose,
            .excess(choices.number(1...70_000)), .coded,
        ])
    }
}
