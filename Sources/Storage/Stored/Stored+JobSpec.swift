import Downloads
import Formats
import Foundation
import HTTPSemantics

/// Writes the values that every job stores without Foundation's encoder, which took a seventh of the time of a submission.
/// The texts have the form that Foundation's decoder reads with the synthesized `Decodable`.
extension Stored {
    /// Members with their default value are left out.
    static func text(_ spec: JobSpec) throws -> String {
        let rareMembers = try rareMembers(of: spec)
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            writer.member("url", spec.url)
            if !spec.mirrors.isEmpty { writer.member("mirrors", spec.mirrors) }
            if spec.method != .get { writer.member("method", spec.method.rawValue) }
            if spec.destination != Destination() { writer.object("destination") { write(spec.destination, to: &$0) } }
            if let priority = spec.priority { writer.member("priority", priority.rawValue) }
            if let connections = spec.connections { writer.member("connections", connections) }
            if let size = spec.expectedSize { writer.member("expectedSize", size) }
            if let size = spec.maxSize { writer.member("maxSize", size) }
            if let digest = spec.digest { writer.member("digest", digest.rawValue) }
            if let decodes = spec.decodes { writer.member("decodes", decodes) }
            if let waitFor = spec.waitFor { writer.member("waitFor", waitFor.map(\.rawValue)) }
            if let rate = spec.rateLimit { writer.member("rateLimit", rate) }
            // Foundation's coders write a date as the seconds since 2001.
            if let date = spec.notBefore { writer.member("notBefore", date.timeIntervalSinceReferenceDate) }
            if let date = spec.deadline { writer.member("deadline", date.timeIntervalSinceReferenceDate) }
            if !spec.tags.isEmpty { writer.member("tags", spec.tags) }
            if spec.metadata != Metadata() { writer.member("metadata", spec.metadata.json.written) }
            if !spec.lost.isEmpty { writer.member("lost", spec.lost.map(\.rawValue).sorted()) }
            for member in rareMembers { writer.member(member.name, .text(member.value)) }
        }
        return writer.text
    }

    /// The members that few specifications have, as Foundation's encoder writes them.
    private static func rareMembers(of spec: JobSpec) throws -> [(name: StaticString, value: String)] {
        var members: [(name: StaticString, value: String)] = []
        if let body = spec.body { members.append(("body", try text(body))) }
        if !spec.headers.isEmpty { members.append(("headers", try text(spec.headers))) }
        if let credentials = spec.credentials { members.append(("credentials", try text(credentials))) }
        if let checksum = spec.checksum { members.append(("checksum", try text(checksum))) }
        if spec.timeouts != Timeouts() { members.append(("timeouts", try text(spec.timeouts))) }
        if let retry = spec.retry { members.append(("retry", try text(retry))) }
        return members
    }

    private static func write(_ destination: Destination, to writer: inout JSONWriter) {
        if let directory = destination.directory { writer.member("directory", directory) }
        if let filename = destination.filename { writer.member("filename", filename) }
        if let conflict = destination.onConflict { writer.member("onConflict", conflict.rawValue) }
        writer.member("createDirectories", destination.createDirectories)
    }
}
