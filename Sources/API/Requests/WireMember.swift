import Downloads
import Formats
import Foundation
import HTTPSemantics

/// How a value is read from a request, and written as one.
struct WireType<Value>: Sendable {
    /// Returns nil if the member is absent.
    let read: @Sendable (_ reader: inout FieldReader, _ name: String) throws(Problem) -> Value?
    let write: @Sendable (Value) -> JSON
}

/// A member of an object in requests: of a job, of a session, or of a part of one. It is described once, for the reading of
/// requests and of patches, and for the writing of exports.
struct WireMember<Object>: Sendable {
    typealias Path<Value> = WritableKeyPath<Object, Value> & Sendable

    let name: String
    let read: @Sendable (_ reader: inout FieldReader, _ object: inout Object) throws(Problem) -> Void
    /// Returns nil if the object has the default of the member.
    let write: @Sendable (Object) -> JSON?

    init<Value>(_ name: String, _ path: any Path<Value?>, _ type: WireType<Value>) {
        self.name = name
        read = { (reader, object) throws(Problem) in object[keyPath: path] = try type.read(&reader, name) }
        write = { object in object[keyPath: path].map(type.write) }
    }

    init<Value: Equatable & Sendable>(_ name: String, _ path: any Path<Value>, _ type: WireType<Value>, default: Value)
    {
        self.name = name
        read = { (reader, object) throws(Problem) in
            object[keyPath: path] = try type.read(&reader, name) ?? `default`
        }
        write = { object in
            let value = object[keyPath: path]
            if value == `default` { return nil }
            return type.write(value)
        }
    }

    /// A member that is always written. The object has its default.
    init<Value>(_ name: String, always path: any Path<Value>, _ type: WireType<Value>) {
        self.name = name
        read = { (reader, object) throws(Problem) in
            if let value = try type.read(&reader, name) { object[keyPath: path] = value }
        }
        write = { object in type.write(object[keyPath: path]) }
    }
}

extension JSONObject {
    /// The members of an object that do not have their default.
    mutating func add<Object>(_ members: [WireMember<Object>], of object: Object) {
        for member in members { self[member.name] = member.write(object) }
    }
}

// MARK: - Types

extension WireType where Value: RawRepresentable<String> & CaseIterable & Sendable {
    static var choice: Self {
        Self(
            read: { (reader, name) throws(Problem) in try reader.choice(name, of: Value.self) },
            write: { .string($0.rawValue) })
    }
}

extension WireType {
    /// A list of choices, each at most once.
    static func choices<Choice: RawRepresentable<String> & CaseIterable & Sendable>() -> Self where Value == [Choice] {
        Self(
            read: { (reader, name) throws(Problem) in try reader.choices(name, of: Choice.self) },
            write: { .strings($0.map(\.rawValue)) })
    }

    /// An object of other members.
    static func object(_ members: [WireMember<Value>], _ empty: Value) -> Self where Value: Sendable {
        Self(
            read: { (reader, name) throws(Problem) in
                try reader.object(name) { (reader) throws(Problem) in
                    var value = empty
                    for member in members { try member.read(&reader, &value) }
                    return value
                }
            },
            write: { value in
                var object = JSONObject()
                object.add(members, of: value)
                return .object(object)
            })
    }

}

extension WireType<Int> {
    static func count(in range: ClosedRange<Int64>) -> Self {
        Self(
            read: { (reader, name) throws(Problem) in try reader.integer(name, in: range).map(Int.init) },
            write: JSON.count)
    }

    /// The number of connections to one file.
    static let connections = count(in: 1...Int64(JobSpec.mostConnections))
}

extension WireType<Int64> {
    static func integer(in range: ClosedRange<Int64>) -> Self {
        Self(read: { (reader, name) throws(Problem) in try reader.integer(name, in: range) }, write: JSON.integer)
    }

    /// Bytes. File offsets are signed 64-bit numbers, and JSON numbers are exact up to 2^53.
    static let size = integer(in: 0...(1 << 53))
    static let bytesPerSecond = integer(in: 1...(1 << 40))
}

extension WireType<Double> {
    static func seconds(in range: ClosedRange<Double>) -> Self {
        Self(read: { (reader, name) throws(Problem) in try reader.seconds(name, in: range) }, write: JSON.number)
    }
}

extension WireType<Bool> {
    static let bool = Self(read: { (reader, name) throws(Problem) in try reader.bool(name) }, write: JSON.bool)
}

extension WireType<Date> {
    static let time = Self(read: { (reader, name) throws(Problem) in try reader.time(name) }, write: JSON.time)
}

extension WireType<String> {
    static let directory = text(fault: FilePathRule.fault(inDirectory:))

    /// A string with a rule of its own. See `FieldReader.string`.
    static func text(fault: @escaping @Sendable (String) -> String?) -> Self {
        Self(read: { (reader, name) throws(Problem) in try reader.string(name, fault: fault) }, write: JSON.string)
    }
}

extension WireType<[String]> {
    static let tags = Self(read: { (reader, name) throws(Problem) in try reader.tags(name) }, write: JSON.strings)
}

extension WireType<Metadata> {
    static let metadata = Self(read: { (reader, name) throws(Problem) in try reader.metadata(name) }, write: \.parsed)
}

extension WireType<[HeaderField]> {
    static let headers = Self(read: { (reader, name) throws(Problem) in try reader.headers(name) }, write: \.request)
}

extension [HeaderField] {
    var request: JSON { .object(reduce(into: JSONObject()) { $0[$1.name] = .string($1.value) }) }
}

// MARK: - Objects of jobs and sessions

extension WireType<Timeouts> {
    static let timeouts = object(
        [
            WireMember("request_seconds", \.requestSeconds, .seconds(in: 0.1...86_400)),
            WireMember("connect_seconds", \.connectSeconds, .seconds(in: 0.1...3600)),
            WireMember("resource_seconds", \.resourceSeconds, .seconds(in: 0.1...315_360_000)),
        ], Timeouts())
}

extension WireType<RetryPolicy> {
    static let retry = object(
        [
            WireMember("max_attempts", always: \.maxAttempts, .count(in: 1...1000)),
            WireMember("base_seconds", always: \.baseSeconds, .seconds(in: 0...3600)),
            WireMember("max_seconds", always: \.maxSeconds, .seconds(in: 0...86_400)),
        ], RetryPolicy())
}

extension WireType<Destination> {
    static let destination = object(
        [
            WireMember("location", \.location, .location),
            WireMember("directory", \.directory, .directory),
            WireMember("filename", \.filename, .text(fault: FilenameTemplate.fault(in:))),
            WireMember("on_conflict", \.onConflict, .choice),
            WireMember("create_directories", \.createDirectories, .bool, default: true),
            WireMember("staging", \.staging, .choice),
        ], Destination())
}
