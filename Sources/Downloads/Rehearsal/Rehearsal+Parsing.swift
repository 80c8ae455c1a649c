import Formats
import Foundation
import HTTPSemantics

extension Rehearsal {
    /// Reads a URL such as `rehearse:film.mkv?size=1000000&seconds=5`.
    ///
    /// - Throws: the fault in the URL.
    public init(parsing url: String) throws(RehearsalFault) {
        guard Self.isRehearsal(url) else { throw RehearsalFault("is no rehearsal such as rehearse:film.mkv") }
        // fetchd requests the resulting URL like any other, so the same rule applies to it.
        if let fault = URLRule.fault(in: Self.address(of: url, at: "http://127.0.0.1:65535")) {
            throw RehearsalFault(fault)
        }
        let text = Self.withoutScheme(url).utf8
        guard !text.contains(UInt8(ascii: "#")) else { throw RehearsalFault("has a fragment, which no origin gets") }
        let path = text.prefix { $0 != UInt8(ascii: "?") }
        self.init(name: try Self.name(Substring(path)))
        try read(query: Substring(text.dropFirst(path.count + 1)))
    }

    /// The fault in a rehearsal's URL, as the end of a sentence; nil if the URL is valid.
    public static func fault(in url: String) -> String? {
        do throws(RehearsalFault) {
            _ = try Rehearsal(parsing: url)
            return nil
        } catch {
            return error.description
        }
    }

    private static func name(_ encoded: Substring) throws(RehearsalFault) -> String {
        if encoded.isEmpty { throw RehearsalFault("has no name such as film.mkv in rehearse:film.mkv") }
        let shown = "has the name \(encoded.prefix(Argument.longestShown))"
        guard let name = encoded.removingPercentEncoding else {
            throw RehearsalFault("\(shown), which is not percent-encoded UTF-8")
        }
        let isComponent = name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/"))
        guard isComponent, name.utf8.count <= longestName else {
            throw RehearsalFault("\(shown), which must be one path component of 1 to \(longestName) bytes")
        }
        guard !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw RehearsalFault("\(shown), which contains a control character")
        }
        return name
    }

    private mutating func read(query: Substring) throws(RehearsalFault) {
        guard !query.isEmpty else { return }
        var seen: Set<Parameter> = []
        for item in query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            let argument = try Argument(Substring(item))
            guard seen.insert(argument.parameter).inserted else {
                throw RehearsalFault("has the parameter \(argument.parameter.rawValue) more than once")
            }
            try take(argument)
        }
        if let lossPosition, lossPosition >= size { throw RehearsalFault(.lossPosition, "\(lossPosition)") }
        if retryAfter != nil, status == nil, rangeStatus == nil {
            throw RehearsalFault("has the parameter retry_after, which needs status or then")
        }
    }

    private mutating func take(_ argument: Argument) throws(RehearsalFault) {
        switch argument.parameter {
        case .size: size = try argument.number(0...Self.largestSize)
        case .seconds: duration = try argument.duration()
        case .status: status = Int(try argument.number(400...599))
        case .rangeStatus: rangeStatus = Int(try argument.number(400...599))
        case .retryAfter: retryAfter = try argument.number(0...Self.longestSeconds)
        case .lossPosition: lossPosition = try argument.number(1...Self.largestSize)
        }
    }
}

private enum Parameter: String {
    case size, seconds, status
    case rangeStatus = "then"
    case retryAfter = "retry_after"
    case lossPosition = "lose_at"

    /// Completes "which must be ...".
    var rule: String {
        switch self {
        case .size: "a whole number of bytes from 0 to \(Rehearsal.largestSize)"
        case .seconds: "a number from 0 to \(Rehearsal.longestSeconds)"
        case .status, .rangeStatus: "a status from 400 to 599"
        case .retryAfter: "a whole number of seconds from 0 to \(Rehearsal.longestSeconds)"
        case .lossPosition: "a whole number of bytes, more than 0 and less than size"
        }
    }
}

/// One `name=value` of the query. The value is not validated yet.
private struct Argument {
    let parameter: Parameter
    private let value: Substring

    init(_ item: Substring) throws(RehearsalFault) {
        let name = item.utf8.prefix { $0 != UInt8(ascii: "=") }
        guard let parameter = Parameter(rawValue: String(Substring(name))) else {
            throw RehearsalFault("has the unknown parameter \"\(Substring(name).prefix(Self.longestShown))\"")
        }
        self.parameter = parameter
        value = Substring(item.utf8.dropFirst(name.count + 1))
    }

    func number(_ range: ClosedRange<Int64>) throws(RehearsalFault) -> Int64 {
        guard isDecimal(with: []), let number = Int64(value), range.contains(number) else { throw fault }
        return number
    }

    func duration() throws(RehearsalFault) -> Duration {
        guard isDecimal(with: [UInt8(ascii: ".")]), let seconds = Double(value),
            0...Double(Rehearsal.longestSeconds) ~= seconds
        else { throw fault }
        return .seconds(seconds)
    }

    /// Whether the value starts and ends with a digit. The standard library would also accept signs, exponents and
    /// names of numbers.
    private func isDecimal(with others: Set<UInt8>) -> Bool {
        guard value.utf8.count <= Self.longestValue, let first = value.utf8.first, let last = value.utf8.last else {
            return false
        }
        return [first, last].allSatisfy(\.isASCIIDigit)
            && value.utf8.allSatisfy { $0.isASCIIDigit || others.contains($0) }
    }

    private var fault: RehearsalFault { RehearsalFault(parameter, value.prefix(Self.longestShown)) }

    static let longestShown = 40
    /// The longest value of a number, in bytes.
    private static let longestValue = 20
}

extension RehearsalFault {
    fileprivate init(_ parameter: Parameter, _ value: some StringProtocol) {
        self.init("has the parameter \(parameter.rawValue) \"\(value)\", which must be \(parameter.rule)")
    }
}

/// Why a URL is not a valid rehearsal.
public struct RehearsalFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// Completes "The URL ...".
    public let description: String

    init(_ description: String) { self.description = description }
}
