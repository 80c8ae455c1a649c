import Formats

/// Reading answers in tests: whatever is not there is null, and the comparison that follows says what was expected.
extension JSON {
    public subscript(name: String) -> JSON { objectValue?[name] ?? .null }

    public subscript(index: Int) -> JSON {
        guard let values = arrayValue, values.indices.contains(index) else { return .null }
        return values[index]
    }

    public var string: String? { stringValue }
    public var integer: Int64? { integerValue }
    public var names: [String] { objectValue?.names ?? [] }
    public var count: Int { arrayValue?.count ?? objectValue?.members.count ?? 0 }
}
