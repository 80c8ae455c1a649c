import Downloads
import Formats
import Foundation
import HTTPSemantics

/// Reads the members of one JSON object by name and type. It records which members were read: any other member, such as
/// a misspelt one, is an error. `null` has the same meaning as an absent member.
struct FieldReader {
    private(set) var object: JSONObject
    /// The position of the object in the body, as a JSON Pointer (RFC 6901).
    let pointer: String
    private var isRead: [Bool]

    init(_ object: JSONObject, at pointer: String = "") {
        self.object = object
        self.pointer = pointer
        isRead = Array(repeating: false, count: object.members.count)
    }

    init(_ value: JSON, at pointer: String = "") throws(Problem) {
        guard let object = value.objectValue else {
            throw Problem(.invalidValue, "\(Self.shown(pointer)) must be an object.", at: pointer)
        }
        self.init(object, at: pointer)
    }

    func pointer(to name: String) -> String { "\(pointer)/\(Self.escaped(name))" }

    static func escaped(_ name: String) -> String {
        // Nearly no name has one, and lists have millions of names.
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        return name.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    mutating func value(_ name: String) -> JSON? {
        guard let index = object.members.firstIndex(where: { $0.name == name }) else { return nil }
        isRead[index] = true
        let value = object.members[index].value
        if case .null = value { return nil }
        return value
    }

    /// Adds the members that the object does not have.
    mutating func add(_ members: JSONObject) {
        for (name, value) in members.members where self.value(name) == nil {
            object[name] = value
            if isRead.count < object.members.count { isRead.append(false) }
        }
    }

    func invalid(_ name: String, _ why: String) -> Problem {
        let pointer = pointer(to: name)
        return Problem(.invalidValue, "\(Self.shown(pointer)) \(why).", at: pointer)
    }

    /// Refuses members that were not read. Must be called after the last read.
    func finish() throws(Problem) {
        guard let index = isRead.firstIndex(of: false) else { return }
        throw unknown(object.members[index].name)
    }

    func unknown(_ name: String) -> Problem {
        let pointer = pointer(to: name)
        return Problem(.unknownField, "\(Self.shown(pointer)) is not a field of this document.", at: pointer)
    }

    static func shown(_ pointer: String) -> String {
        pointer.isEmpty ? "The body" : "`\(pointer.dropFirst().replacing("/", with: "."))`"
    }

    /// - Parameters:
    ///   - rule: what the value must be, as the end of a sentence.
    ///   - convert: returns nil for another value.
    mutating func value<Value>(
        _ name: String, _ rule: @autoclosure () -> String, _ convert: (JSON) -> Value?
    ) throws(Problem) -> Value? {
        guard let value = value(name) else { return nil }
        guard let converted = convert(value) else { throw invalid(name, rule()) }
        return converted
    }

    mutating func string(_ name: String) throws(Problem) -> String? {
        try value(name, "must be a string", \.stringValue)
    }

    /// - Parameter fault: why the text cannot be used, as the end of a sentence; nil: it can.
    mutating func string(_ name: String, fault: (String) -> String?) throws(Problem) -> String? {
        guard let text = try string(name) else { return nil }
        if let fault = fault(text) { throw invalid(name, fault) }
        return text
    }

    /// A string of which `read` makes a value. The parameters are those of `value`.
    mutating func string<Value>(
        _ name: String, _ rule: @autoclosure () -> String, _ read: (String) -> Value?
    ) throws(Problem) -> Value? {
        guard let text = try string(name) else { return nil }
        guard let value = read(text) else { throw invalid(name, rule()) }
        return value
    }

    mutating func bool(_ name: String) throws(Problem) -> Bool? {
        try value(name, "must be true or false", \.boolValue)
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64? {
        try value(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)") {
            $0.integerValue.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A number of seconds; fractions are allowed.
    mutating func seconds(_ name: String, in range: ClosedRange<Double>) throws(Problem) -> Double? {
        try value(name, "must be a number of seconds from \(range.lowerBound) to \(range.upperBound)") {
            $0.numberValue.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    mutating func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, of type: Value.Type
    ) throws(Problem) -> Value? {
        try string(
            name, "must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))",
            { text in Value.allCases.first { $0.rawValue == text } })
    }

    /// A list of choices, each at most once. The list may be empty.
    mutating func choices<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, of type: Value.Type
    ) throws(Problem) -> [Value]? {
        guard let texts = try strings(name) else { return nil }
        let values = texts.compactMap(Value.init(rawValue:))
        guard values.count == texts.count, Set(texts).count == texts.count else {
            throw invalid(
                name, "may contain each of \(Value.allCases.map(\.rawValue).joined(separator: ", ")) once")
        }
        return values
    }

    mutating func strings(_ name: String) throws(Problem) -> [String]? {
        try value(name, "must be an array of strings") { value in
            let strings = value.arrayValue?.compactMap(\.stringValue)
            return strings?.count == value.arrayValue?.count ? strings : nil
        }
    }

    /// The only one of several alternatives that the object has; nil: it has none.
    ///
    /// - Parameter why: why one is enough, as the end of a sentence.
    func only<Value>(
        _ alternatives: [(name: String, value: Value)?], _ why: String
    ) throws(Problem) -> (name: String, value: Value)? {
        let given = alternatives.compactMap(\.self)
        guard given.count <= 1 else { throw invalid(given[1].name, "and `\(given[0].name)` are both given; \(why)") }
        return given.first
    }

    mutating func object<Value>(
        _ name: String, _ read: (inout FieldReader) throws(Problem) -> Value
    ) throws(Problem) -> Value? {
        guard let value = value(name) else { return nil }
        var reader = try FieldReader(value, at: pointer(to: name))
        let result = try read(&reader)
        try reader.finish()
        return result
    }

    /// The error for a required member that is absent. An unknown member is reported instead, because it may be the
    /// required one with a mistake in its name. So this must be called after the last read.
    /// - Parameter what: the meaning of the field, as the end of a sentence.
    func missing(_ name: String, _ what: String) -> Problem {
        do { try finish() } catch { return error }
        return Problem(.missingField, "\(Self.shown(pointer(to: name))) is missing: \(what).", at: pointer(to: name))
    }
}

extension FieldReader {
    mutating func url(_ name: String) throws(Problem) -> String? {
        try string(name, fault: URLRule.fault(in:)).map(URLRule.normalized)
    }

    /// The source of a download: a URL, or a rehearsal.
    mutating func source(_ name: String) throws(Problem) -> String? {
        try string(name, fault: Self.fault(inSource:)).map(Self.normalized(source:))
    }

    static func fault(inSource text: String) -> String? {
        Rehearsal.isRehearsal(text) ? Rehearsal.fault(in: text) : URLRule.fault(in: text)
    }

    static func normalized(source text: String) -> String {
        Rehearsal.isRehearsal(text) ? text : URLRule.normalized(text)
    }

    mutating func headers(
        _ name: String, rule fault: (HeaderField) -> String? = \.fault
    ) throws(Problem) -> [HeaderField]? {
        guard let object = try value(name, "must be an object of strings", \.objectValue) else { return nil }
        guard object.members.count <= 64 else { throw invalid(name, "has more than 64 headers") }
        let reader = FieldReader(object, at: pointer(to: name))
        var fields: [HeaderField] = []
        for member in object.members {
            guard let text = member.value.stringValue else { throw reader.invalid(member.name, "must be a string") }
            let field = HeaderField(name: member.name, value: text)
            if let fault = fault(field) { throw reader.invalid(member.name, fault) }
            fields.append(field)
        }
        return fields
    }

    /// A time in RFC 3339, rounded to a millisecond.
    mutating func time(_ name: String) throws(Problem) -> Date? {
        try string(name, "must be a time such as 2019-08-19T15:23:14Z (RFC 3339)", Date.init(rfc3339:))
            .map { Date(milliseconds: $0.milliseconds) }
    }

    mutating func tags(_ name: String) throws(Problem) -> [String]? {
        guard let tags = try strings(name) else { return nil }
        guard tags.count <= 32, tags.allSatisfy({ (1...128).contains($0.utf8.count) }) else {
            throw invalid(name, "may contain at most 32 tags of 1 to 128 bytes each")
        }
        guard Set(tags).count == tags.count else { throw invalid(name, "contains a tag twice") }
        return tags
    }

    mutating func metadata(_ name: String) throws(Problem) -> Metadata? {
        guard let metadata = try value(name, "must be an object", { $0.objectValue.map(Metadata.init) }) else {
            return nil
        }
        guard metadata.size <= Metadata.limit else { throw invalid(name, "is larger than \(Metadata.limit) bytes") }
        return metadata
    }

    mutating func eventNumber(_ name: String, _ what: String) throws(Problem) -> EventID {
        guard let number = try integer(name, in: 0...Int64.max) else { throw missing(name, what) }
        return number
    }

    mutating func eventPatterns(_ name: String) throws(Problem) -> [EventPattern]? {
        guard let texts = try strings(name) else { return nil }
        guard !texts.isEmpty, Set(texts).count == texts.count else {
            throw invalid(name, "must name at least one type of event, each once")
        }
        return try texts.map { text throws(Problem) in
            if let pattern = EventPattern(text) { return pattern }
            let types = EventType.allCases.map(\.rawValue).joined(separator: ", ")
            throw invalid(
                name, "contains '\(text)', which matches no event type; use job.*, session.*, webhook.*, \(types)")
        }
    }
}

enum JSONBody {
    /// Maximum size in bytes of a body, and of one job in a batch.
    static let limit = 1 << 20
    static let batchLimit = 32 << 20

    static func parse(_ bytes: [UInt8]) throws(Problem) -> JSON {
        try wellFormed { () throws(JSONFault) in try JSON(parsing: bytes) }
    }

    /// Reads the elements of a body such as `{"jobs": [...]}` one after another. The first one that cannot be used refuses
    /// the request; the rest of the body is not read.
    ///
    /// - Parameters:
    ///   - name: the only member of the body. It is also the word for its elements.
    ///   - most: the maximum number of elements. There must be at least one.
    static func list<Element>(
        _ name: String, in bytes: [UInt8], atMost most: Int,
        _ read: (inout FieldReader) throws(Problem) -> Element
    ) throws(Problem) -> [Element] {
        var elements: [Element] = []
        var list = JSONListReader(name, in: bytes, elementsOfAtMost: limit)
        let wrongCount = FieldReader(JSONObject()).invalid(name, "must be an array of 1 to \(most) \(name)")
        while true {
            switch try wellFormed({ () throws(JSONFault) in try list.next() }) {
            case .element(let value):
                guard elements.count < most else { throw wrongCount }
                var reader = try FieldReader(value, at: "/\(name)/\(elements.count)")
                elements.append(try read(&reader))
                try reader.finish()
            case .end where !elements.isEmpty: return elements
            case .end, .notAList: throw wrongCount
            case .notAnObject: throw Problem(.invalidValue, "The body must be an object.", at: "")
            case .otherMember(let other): throw FieldReader(JSONObject()).unknown(other)
            case .tooLarge:
                throw FieldReader(JSONObject(), at: "/\(name)")
                    .invalid("\(elements.count)", "is larger than \(limit) bytes")
            }
        }
    }

    private static func wellFormed<Value>(_ read: () throws(JSONFault) -> Value) throws(Problem) -> Value {
        do throws(JSONFault) {
            return try read()
        } catch {
            throw Problem(.malformedJSON, "The body is not well-formed JSON. \(error).")
        }
    }
}
