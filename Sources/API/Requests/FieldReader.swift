import Formats

/// Reads the members of one JSON object by name and type. It records which members were read: any other member, such as
/// a misspelt one, is an error. `null` has the same meaning as an absent member.
struct FieldReader {
    let object: JSONObject
    /// The position of the object in the body, as a JSON Pointer (RFC 6901).
    let pointer: String
    /// For each member of the object, whether it was read.
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

    func pointer(to name: String) -> String {
        "\(pointer)/\(name.replacing("~", with: "~0").replacing("/", with: "~1"))"
    }

    /// The member; nil if it is absent or null.
    mutating func value(_ name: String) -> JSON? {
        guard let index = object.members.firstIndex(where: { $0.name == name }) else { return nil }
        isRead[index] = true
        let value = object.members[index].value
        if case .null = value { return nil }
        return value
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

    /// The error for a member that the document does not have.
    func unknown(_ name: String) -> Problem {
        let pointer = pointer(to: name)
        return Problem(.unknownField, "\(Self.shown(pointer)) is not a field of this document.", at: pointer)
    }

    static func shown(_ pointer: String) -> String {
        pointer.isEmpty ? "The body" : "`\(pointer.dropFirst().replacing("/", with: "."))`"
    }
}

extension FieldReader {
    mutating func string(_ name: String) throws(Problem) -> String? {
        guard let value = value(name) else { return nil }
        guard let string = value.stringValue else { throw invalid(name, "must be a string") }
        return string
    }

    mutating func bool(_ name: String) throws(Problem) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let bool = value.boolValue else { throw invalid(name, "must be true or false") }
        return bool
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64? {
        guard let value = value(name) else { return nil }
        guard let integer = value.integerValue, range.contains(integer) else {
            throw invalid(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return integer
    }

    /// A number of seconds; fractions are allowed.
    mutating func seconds(_ name: String, in range: ClosedRange<Double>) throws(Problem) -> Double? {
        guard let value = value(name) else { return nil }
        guard let number = value.numberValue, range.contains(number) else {
            throw invalid(name, "must be a number of seconds from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, of type: Value.Type
    ) throws(Problem) -> Value? {
        guard let text = try string(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            throw invalid(name, "must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
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
        guard let value = value(name) else { return nil }
        guard let values = value.arrayValue else { throw invalid(name, "must be an array of strings") }
        var strings: [String] = []
        for value in values {
            guard let string = value.stringValue else { throw invalid(name, "must be an array of strings") }
            strings.append(string)
        }
        return strings
    }

    /// A nested object, read by the same rules.
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
    ///
    /// - Parameter what: the meaning of the field, as the end of a sentence.
    func missing(_ name: String, _ what: String) -> Problem {
        do { try finish() } catch { return error }
        return Problem(.missingField, "\(Self.shown(pointer(to: name))) is missing: \(what).", at: pointer(to: name))
    }

    /// A field of the contract that this version does not implement. Only its default value is accepted.
    mutating func unsupported(_ name: String, unless default: JSON? = nil) throws(Problem) {
        guard let value = value(name), value != `default` else { return }
        throw invalid(name, "asks for something that this version of fetchd does not do yet")
    }
}
