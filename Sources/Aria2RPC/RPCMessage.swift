import Downloads
import Formats
import Foundation
import Storage

/// The content of a request: one call, or several (JSON-RPC batch).
public enum RPCMessage: Sendable {
    case single(JSON)
    case batch([JSON])
    /// The text is not JSON, or neither an object nor an array.
    case unreadable
    case tooLarge

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
        guard call.objectValue?["method"]?.stringValue == RPCMethod.multicall.name else { return 1 }
        return max(1, innerCalls(of: call).count)
    }

    private static func innerCalls(of multicall: JSON) -> [JSON] {
        multicall.objectValue?["params"]?.arrayValue?.first?.arrayValue ?? []
    }

    /// The parameters of a GET: `method`, `id` and `params` (base64 of a JSON array), or only `params` with a batch. Parameters
    /// that cannot be read are no call.
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

    public var onlyReads: Bool {
        switch self {
        case .single(let call): Self.onlyReads(call)
        case .batch(let calls): calls.allSatisfy(Self.onlyReads)
        case .unreadable, .tooLarge: true
        }
    }

    private static func onlyReads(_ call: JSON) -> Bool {
        guard let name = call.objectValue?["method"]?.stringValue ?? call.objectValue?["methodName"]?.stringValue,
            let method = RPCMethod(name: name)
        else { return true }
        guard method == .multicall else { return method.scope == nil || method.scope == .read }
        return innerCalls(of: call).allSatisfy(onlyReads)
    }
}

/// One call of a method, as JSON-RPC 2.0 carries it.
struct RPCCall: Sendable {
    let method: String
    let parameters: [JSON]

    init(_ value: JSON) throws(RPCError) {
        guard let object = value.objectValue, object["id"] != nil, let method = object["method"]?.stringValue else {
            throw .invalidRequest
        }
        self.method = method
        switch object["params"] {
        case nil: parameters = []
        case .array(let values)?: parameters = values
        case _?: throw .invalidParams
        }
    }
}

public struct RPCReply: Sendable {
    /// The HTTP status. WebSocket has none.
    public let status: Int
    public let text: [UInt8]

    /// - Parameter error: why there is no result; nil: there is one, or the message is a batch, which is always 200.
    init(_ text: [UInt8], _ error: RPCError? = nil) { (self.text, status) = (text, error?.status ?? 200) }

    init(_ error: RPCError) { self.init(error.document(id: .null).bytes, error) }
}

extension RPCError {
    func document(id: JSON) -> JSON { ["id": id, "jsonrpc": "2.0", "error": document] }

    var document: JSON { ["code": .count(code), "message": .string(message)] }
}

/// Why a call was not carried out. aria2 gives almost every error the code 1 and a sentence.
public struct RPCError: Error, Sendable, Equatable {
    public var code: Int
    public var message: String

    public init(_ message: String) { self.init(code: 1, message) }

    private init(code: Int, _ message: String, status: Int? = nil) {
        self.code = code
        self.message = message
        ownStatus = status
    }

    private var ownStatus: Int?

    static let parseError = RPCError(code: -32700, "Parse error.")
    static let invalidRequest = RPCError(code: -32600, "Invalid Request.")
    /// The message has more calls than one may have.
    static let tooManyCalls = RPCError("A message has at most \(RPCMessage.mostCalls) calls.")
    static let answerTooLarge = RPCError(
        "The answer would be larger than \(AnswerRoom.largestAnswer >> 20) MiB. Ask for fewer downloads, or name the keys."
    )
    /// Other answers, which their clients have not read, take the memory.
    static let outOfMemory = RPCError(
        code: 1, "Answers that were not read yet take too much memory. Try again in a second.", status: 503)
    static let invalidParams = RPCError(code: -32602, "Invalid params.")

    /// Clients recognize a wrong secret by this text.
    public static let unauthorized = RPCError("Unauthorized")

    /// The HTTP status of a response with only this error, as aria2 1.36 sends it.
    var status: Int {
        if let ownStatus { return ownStatus }
        return switch code {
        case -32700, -32602: 500
        default: 400
        }
    }
}

/// The sender of a call, as far as this layer must know it.
public struct RPCCaller: Sendable {
    public let grant: Permissions
    public let creator: JobCreator

    public let note: AuditNote

    public init(grant: Permissions, creator: JobCreator, note: AuditNote) {
        self.grant = grant
        self.creator = creator
        self.note = note
    }

    func require(_ scope: Scope) throws(RPCError) {
        guard grant.scope >= scope else {
            throw RPCError(
                "This method needs the scope \(scope.rawValue); the token has the scope \(grant.scope.rawValue).")
        }
    }

    func require(_ session: Name) throws(RPCError) {
        guard grant.sessions.contain(session) else {
            // The token must not learn the name of the session.
            throw RPCError("The token is bound to other sessions than that of this interface.")
        }
    }

    /// - Throws: an error if the file would go to a location that the token may not use.
    func requireLocation(of destination: Destination, _ defaults: SessionConfiguration) throws(RPCError) {
        let location = destination.location ?? defaults.location ?? .default
        guard grant.allow(location) else {
            throw RPCError("The token is bound to other locations than \(location), where the file would go.")
        }
    }

    /// Callers that may not change a job don't see the query of its URL, which often contains a signature.
    var seesWholeURLs: Bool { grant.scope >= .jobs }
}

/// Reads the parameters of a call in their order, with the errors of aria2.
struct RPCParameters {
    private var values: ArraySlice<JSON>

    init(_ values: [JSON]) { self.values = values[...] }

    /// The number that aria2's messages give to the next parameter.
    private var index: Int { values.startIndex }

    /// Takes the first parameter if it is a secret: `token:` and a token.
    mutating func secret() -> String? {
        guard let text = values.first?.stringValue, text.hasPrefix("token:") else { return nil }
        values = Array(values.dropFirst())[...]
        return String(text.dropFirst("token:".count))
    }

    private mutating func next() -> JSON? { values.popFirst() }

    private func wrongType(_ index: Int) -> RPCError { RPCError("The parameter at \(index) has wrong type.") }

    private mutating func required<Value>(_ convert: (JSON) -> Value?) throws(RPCError) -> Value {
        let position = index
        guard let value = next() else { throw RPCError("The parameter at \(position) is required but missing.") }
        guard let converted = convert(value) else { throw wrongType(position) }
        return converted
    }

    private mutating func optional<Value>(_ convert: (JSON) -> Value?) throws(RPCError) -> Value? {
        let position = index
        guard let value = next() else { return nil }
        guard let converted = convert(value) else { throw wrongType(position) }
        return converted
    }

    mutating func string() throws(RPCError) -> String { try required(\.stringValue) }
    mutating func integer() throws(RPCError) -> Int { try required { $0.integerValue.map(Int.init(clamping:)) } }
    mutating func integer(atLeast minimum: Int) throws(RPCError) -> Int {
        let position = index
        let value = try integer()
        guard value >= minimum else {
            throw RPCError(
                "The integer parameter at \(position) has invalid value: "
                    + "the value must be greater than or equal to \(minimum).")
        }
        return value
    }
    mutating func array() throws(RPCError) -> [JSON] { try required(\.arrayValue) }
    mutating func object() throws(RPCError) -> JSONObject { try required(\.objectValue) }
    mutating func optionalInteger() throws(RPCError) -> Int? {
        try optional { $0.integerValue.map(Int.init(clamping:)) }
    }
    mutating func optionalObject() throws(RPCError) -> JSONObject? { try optional(\.objectValue) }

    mutating func gid() throws(RPCError) -> GIDPrefix {
        let text = try string()
        guard let prefix = GIDPrefix(text) else { throw RPCError("Invalid GID \(text)") }
        return prefix
    }

    /// Strings; aria2 ignores other elements.
    mutating func strings() throws(RPCError) -> [String] { try array().compactMap(\.stringValue) }

    /// The members that a document is limited to; nil: all.
    mutating func keys() throws(RPCError) -> Set<String>? {
        let keys = try optional(\.arrayValue)?.compactMap(\.stringValue) ?? []
        return keys.isEmpty ? nil : Set(keys)
    }
}
