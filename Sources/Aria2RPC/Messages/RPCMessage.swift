import Formats
import Foundation

/// The content of a request: one call, or several (JSON-RPC batch).
public enum RPCMessage: Sendable {
    case single(JSON)
    case batch([JSON])
    /// The text is not JSON, or neither an object nor an array.
    case unreadable
    case tooLarge

    /// The largest number of calls in a message, with those in `system.multicall`.
    static let mostCalls = 1_000

    public init(_ text: [UInt8]) {
        guard let value = try? JSON(parsing: text) else {
            self = .unreadable
            return
        }
        switch value {
        // aria2 refuses these later than other values that are no calls.
        case .object, .null, .bool, .string, .text: self = .single(value)
        case .array(let calls):
            let count = calls.reduce(0) { $0 + Self.count(of: $1) }
            self = count <= Self.mostCalls ? .batch(calls.filter { $0.objectValue != nil }) : .tooLarge
        case .integer, .number: self = .unreadable
        }
    }

    private static func count(of call: JSON) -> Int {
        guard call.objectValue?["method"]?.stringValue == RPCMethod.multicall.rawValue else { return 1 }
        return max(1, innerCalls(of: call).count)
    }

    private static func innerCalls(of multicall: JSON) -> [JSON] {
        multicall.objectValue?["params"]?.arrayValue?.first?.arrayValue ?? []
    }

    /// The parameters of a GET: `method`, `id` and `params` (base64 of a JSON array), or only `params` with a batch. Parameters
    /// that cannot be read are no call.
    ///
    /// - Parameter parameters: decoded.
    public init(query parameters: [String: String]) {
        let params = parameters["params"].map(Self.decoded)
        guard let method = parameters["method"] else {
            self = params.map { RPCMessage($0) } ?? .single([:])
            if case .unreadable = self { self = .single([:]) }
            return
        }
        var call: JSONObject = ["method": .string(method)]
        if let id = parameters["id"] { call["id"] = .string(id) }
        if let params {
            guard let values = try? JSON(parsing: params) else {
                self = .single([:])
                return
            }
            call["params"] = values
        }
        self = .single(.object(call))
    }

    /// In a query, a plus that was not escaped is read as a space. aria2's manual has base64 that is not escaped.
    private static func decoded(_ base64: String) -> [UInt8] {
        Data(base64Encoded: base64.replacing(" ", with: "+")).map { [UInt8]($0) } ?? []
    }

    /// Whether every call, also within `system.multicall`, only reads.
    public var onlyReads: Bool {
        switch self {
        case .single(let call): Self.onlyReads(call)
        case .batch(let calls): calls.allSatisfy(Self.onlyReads)
        case .unreadable, .tooLarge: true
        }
    }

    private static func onlyReads(_ call: JSON) -> Bool {
        guard let name = call.objectValue?["method"]?.stringValue ?? call.objectValue?["methodName"]?.stringValue,
            let method = RPCMethod(rawValue: name)
        else { return true }
        guard method == .multicall else { return method.scope == nil || method.scope == .read }
        return innerCalls(of: call).allSatisfy(onlyReads)
    }
}
