import Formats

/// Reading responses in tests: a missing member is null, and the failed comparison shows the expected value.
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
