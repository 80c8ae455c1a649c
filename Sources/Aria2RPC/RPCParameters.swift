import Downloads
import Formats

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
