/// The members of a JSON object, in order. Names are unique: setting a name again replaces its value in place.
public struct JSONObject: Sendable, ExpressibleByDictionaryLiteral {
    public private(set) var members: [(name: String, value: JSON)] = []

    public init() {}

    /// A literal must contain each name only once.
    public init(dictionaryLiteral elements: (String, JSON)...) { self.init(elements) }

    /// - Parameter elements: each name only once.
    init(_ elements: [(String, JSON)]) { members = elements.map { (name: $0.0, value: $0.1) } }

    /// - Parameter name: not yet in the object.
    mutating func append(_ name: String, _ value: JSON) { members.append((name, value)) }

    public var isEmpty: Bool { members.isEmpty }
    public var names: [String] { members.map(\.name) }

    public subscript(name: String) -> JSON? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.members.allSatisfy { right[$0.name] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(members.count)
        hasher.combine(Set(names))
    }
}
