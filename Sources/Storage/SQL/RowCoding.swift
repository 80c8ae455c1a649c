import Downloads
import Formats
import Foundation
import HTTPSemantics

/// Stores domain values in columns. A row that can't be read is damage and is reported.
enum RowCoding {
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func value<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// A value of an enumeration, from its name.
    static func named<Value: RawRepresentable<String>>(
        _ type: Value.Type, _ name: String, in column: @autoclosure () -> String
    ) throws -> Value {
        guard let value = Value(rawValue: name) else {
            throw StoreError.failed(why: "\(column()) holds '\(name)', which this version does not know")
        }
        return value
    }
}

extension SQLRow {
    func time(_ column: String) throws -> Date { Date(milliseconds: try self[column]) }
    package func optionalTime(_ column: String) throws -> Date? {
        try (self[column] as Int64?).map(Date.init(milliseconds:))
    }

    func decoded<Value: Decodable>(_ column: String, as type: Value.Type) throws -> Value {
        try RowCoding.value(type, from: self[column])
    }

    /// - Parameter default: the value of NULL.
    func decoded<Value: Decodable>(_ column: String, default: Value) throws -> Value {
        try (self[column] as String?).map { try RowCoding.value(Value.self, from: $0) } ?? `default`
    }

    /// A value of a closed set, stored by its name.
    func named<Value: RawRepresentable<String>>(_ column: String, as type: Value.Type) throws -> Value {
        try RowCoding.named(type, self[column], in: column)
    }
}

/// Writes the values that every job stores without Foundation's encoder, which took a seventh of the time of a submission.
/// The texts have the form that Foundation's decoder reads with the synthesized `Decodable`.
extension RowCoding {
    /// Members with their default value are left out.
    static func text(_ spec: JobSpec) throws -> String {
        let rareMembers = try rareMembers(of: spec)
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            writer.member("url", spec.url)
            if !spec.mirrors.isEmpty { writer.member("mirrors", spec.mirrors) }
            if let policy = spec.mirrorPolicy { writer.member("mirrorPolicy", policy.rawValue) }
            if spec.method != .get { writer.member("method", spec.method.rawValue) }
            if spec.destination != Destination() { writer.object("destination") { write(spec.destination, to: &$0) } }
            if let priority = spec.priority { writer.member("priority", priority.rawValue) }
            if let connections = spec.connections { writer.member("connections", connections) }
            if let size = spec.expectedSize { writer.member("expectedSize", size) }
            if let size = spec.maxSize { writer.member("maxSize", size) }
            if let digest = spec.digest { writer.member("digest", digest.rawValue) }
            if let decodes = spec.decodes { writer.member("decodes", decodes) }
            if let policy = spec.resumePolicy { writer.member("resumePolicy", policy.rawValue) }
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
        if let discovery = spec.discovery { members.append(("discovery", try text(discovery))) }
        if let pieces = spec.pieces { members.append(("pieces", try text(pieces))) }
        if spec.timeouts != Timeouts() { members.append(("timeouts", try text(spec.timeouts))) }
        if let retry = spec.retry { members.append(("retry", try text(retry))) }
        return members
    }

    private static func write(_ destination: Destination, to writer: inout JSONWriter) {
        if let location = destination.location { writer.member("location", location.text) }
        if let directory = destination.directory { writer.member("directory", directory) }
        if let filename = destination.filename { writer.member("filename", filename) }
        if let conflict = destination.onConflict { writer.member("onConflict", conflict.rawValue) }
        writer.member("createDirectories", destination.createDirectories)
        if let staging = destination.staging { writer.member("staging", staging.rawValue) }
    }
}

/// Writes the plan of a promotion, and what a succeeded job leaves, in the form of `the specification above`.
extension RowCoding {
    static func text(_ promotion: FinalizePlan) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.object("part") { $0.member("text", promotion.part.text) }
            writer.member("inode", json(promotion.inode))
            writer.member("conflict", promotion.conflict.rawValue)
            writer.object("file") { write(promotion.file, to: &$0) }
            writer.object("receipt") { write(promotion.receipt, to: &$0) }
        }
        return writer.text
    }

    static func text(_ finish: JobResult) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.object("file") { write(finish.file, to: &$0) }
            writer.object("receipt") { write(finish.receipt, to: &$0) }
        }
        return writer.text
    }

    private static func write(_ file: FinishedFile, to writer: inout JSONWriter) {
        if let location = file.location { writer.member("location", location.text) }
        writer.member("path", file.path)
        writer.member("size", file.size)
        if let sha256 = file.sha256 { writer.member("sha256", sha256) }
        if let contentType = file.contentType { writer.member("contentType", contentType) }
        if let mark = file.mark { writer.object("mark") { write(mark, to: &$0) } }
        guard let object = file.object else { return }
        writer.object("object") { writer in
            writer.member("url", object.url)
            writer.member("etag", object.etag)
            if let version = object.versionID { writer.member("versionID", version) }
        }
    }

    private static func write(_ mark: FileMark, to writer: inout JSONWriter) {
        writer.member("inode", json(mark.inode))
        writer.member("modified", mark.modified)
        if let born = mark.born { writer.member("born", born) }
    }

    private static func write(_ receipt: Receipt, to writer: inout JSONWriter) {
        writer.member("finalURL", receipt.finalURL)
        writer.member("redirects", receipt.redirects)
        writer.member("status", receipt.status)
        writer.member("networkProtocol", receipt.networkProtocol)
        writer.member("lengthVerified", receipt.lengthVerified)
        if let sources = receipt.verifiedBy { writer.member("verifiedBy", sources.map(\.rawValue)) }
        if let listed = receipt.checksum { writer.object("checksum") { write(listed, to: &$0) } }
        if let dropped = receipt.droppedMirrors, !dropped.isEmpty {
            let mirrors = dropped.map { mirror in
                JSON.object([
                    "url": .string(mirror.url), "code": .string(mirror.code.rawValue),
                    "message": .string(mirror.message),
                ])
            }
            writer.member("droppedMirrors", .array(mirrors))
        }
        if let proof = receipt.resumedBy { writer.member("resumedBy", proof.rawValue) }
        writer.member("attempts", receipt.attempts)
        writer.object("timings") { writer in
            writer.member("connect", receipt.timings.connect)
            writer.member("firstByte", receipt.timings.firstByte)
            writer.member("transfer", receipt.timings.transfer)
            writer.member("total", receipt.timings.total)
        }
        if let etag = receipt.etag { writer.member("etag", etag) }
        if let lastModified = receipt.lastModified { writer.member("lastModified", lastModified) }
        if let coding = receipt.coding { writer.object("coding") { write(coding, to: &$0) } }
        if let remoteAddress = receipt.remoteAddress { writer.member("remoteAddress", remoteAddress) }
    }

    private static func write(_ listed: ListedChecksum, to writer: inout JSONWriter) {
        writer.member("url", listed.url)
        if let file = listed.file { writer.member("file", file) }
        writer.object("checksum") { writer in
            writer.member("algorithm", listed.checksum.algorithm.rawValue)
            writer.member("value", listed.checksum.value)
        }
        guard let signature = listed.signature else { return }
        writer.object("signature") { writer in
            writer.member("kind", signature.kind.rawValue)
            writer.member("url", signature.url)
            writer.member("key", signature.key)
            if let comment = signature.trustedComment { writer.member("trustedComment", comment) }
        }
    }

    private static func write(_ coding: Receipt.Coding, to writer: inout JSONWriter) {
        writer.member("name", coding.name)
        writer.member("isDecoded", coding.isDecoded)
        writer.member("size", coding.size)
        if let sha256 = coding.sha256 { writer.member("sha256", sha256) }
    }

    /// `JSON.integer` is too small for some inode numbers.
    private static func json(_ number: UInt64) -> JSON { .text(String(number)) }
}

/// Reads specifications and finishes. A page of the list reads a hundred of each, and Foundation's decoder takes 20 µs or
/// more for one. A text with a member that is not listed here goes to that decoder.
extension RowCoding {
    static func spec(from text: String) throws -> JobSpec {
        let stored = try JSON(parsing: Array(text.utf8)).objectValue?.members ?? []
        guard let spec = commonSpec(stored) else { return try value(JobSpec.self, from: text) }
        return spec
    }

    static func finish(from text: String) throws -> JobResult {
        let stored = try JSON(parsing: Array(text.utf8)).objectValue
        guard let file = stored?["file"]?.objectValue.flatMap(FinishedFile.init(stored:)),
            let receipt = stored?["receipt"]?.objectValue.flatMap(Receipt.init(stored:))
        else { return try value(JobResult.self, from: text) }
        return JobResult(file: file, receipt: receipt)
    }

    /// nil if the specification has a member that few specifications have.
    private static func commonSpec(_ stored: [(name: String, value: JSON)]) -> JobSpec? {
        var spec = JobSpec(url: "")
        for member in stored {
            switch (member.name, member.value) {
            case ("url", .string(let url)): spec.url = url
            case ("destination", .object(let destination)):
                guard let destination = Destination(stored: destination) else { return nil }
                spec.destination = destination
            case ("priority", .string(let name)):
                guard let priority = Priority(rawValue: name) else { return nil }
                spec.priority = priority
            case ("digest", .string(let name)):
                guard let digest = Digest(rawValue: name) else { return nil }
                spec.digest = digest
            case ("connections", .integer(let connections)): spec.connections = Int(connections)
            case ("expectedSize", .integer(let size)): spec.expectedSize = size
            case ("notBefore", let date):
                spec.notBefore = date.numberValue.map(Date.init(timeIntervalSinceReferenceDate:))
            case ("tags", .array(let tags)): spec.tags = tags.compactMap(\.stringValue)
            default: return nil
            }
        }
        return spec
    }
}

extension Destination {
    fileprivate init?(stored: JSONObject) {
        self.init(
            location: stored["location"]?.stringValue.map(Name.init(trusted:)),
            directory: stored["directory"]?.stringValue, filename: stored["filename"]?.stringValue)
        if let name = stored["onConflict"]?.stringValue {
            guard let conflict = Conflict(rawValue: name) else { return nil }
            onConflict = conflict
        }
        createDirectories = stored["createDirectories"]?.boolValue ?? true
        if let name = stored["staging"]?.stringValue {
            guard let staging = Staging(rawValue: name) else { return nil }
            self.staging = staging
        }
    }
}

extension FinishedFile {
    fileprivate init?(stored: JSONObject) {
        // Most files are in folders.
        guard stored["object"] == nil, let path = stored["path"]?.stringValue, let size = stored["size"]?.integerValue
        else { return nil }
        var mark: FileMark?
        if let object = stored["mark"]?.objectValue {
            guard let inode = object["inode"]?.integerValue, inode >= 0, let modified = object["modified"]?.integerValue
            else { return nil }
            mark = FileMark(inode: UInt64(inode), born: object["born"]?.integerValue, modified: modified)
        }
        self.init(
            in: stored["location"]?.stringValue.map(Name.init(trusted:)), path: path, size: size,
            sha256: stored["sha256"]?.stringValue,
            contentType: stored["contentType"]?.stringValue, mark: mark)
    }
}

extension Receipt {
    fileprivate init?(stored: JSONObject) {
        // Few receipts have a coding, or a digest from a list.
        guard stored["coding"] == nil, stored["checksum"] == nil, stored["droppedMirrors"] == nil,
            let finalURL = stored["finalURL"]?.stringValue,
            let redirects = stored["redirects"]?.arrayValue,
            let status = stored["status"]?.integerValue, let networkProtocol = stored["networkProtocol"]?.stringValue,
            let lengthVerified = stored["lengthVerified"]?.boolValue, let attempts = stored["attempts"]?.integerValue,
            let timings = stored["timings"]?.objectValue.flatMap(Timings.init(stored:))
        else { return nil }
        self.init(
            finalURL: finalURL, redirects: redirects.compactMap(\.stringValue), status: Int(status),
            etag: stored["etag"]?.stringValue, lastModified: stored["lastModified"]?.stringValue,
            remoteAddress: stored["remoteAddress"]?.stringValue, networkProtocol: networkProtocol,
            lengthVerified: lengthVerified,
            verifiedBy: stored["verifiedBy"]?.arrayValue?.compactMap {
                $0.stringValue.flatMap(DigestClaim.Claimant.init)
            },
            resumedBy: stored["resumedBy"]?.stringValue.flatMap(ResumeProof.init), attempts: Int(attempts),
            timings: timings)
    }
}

extension Receipt.Timings {
    fileprivate init?(stored: JSONObject) {
        guard let connect = stored["connect"]?.numberValue, let firstByte = stored["firstByte"]?.numberValue,
            let transfer = stored["transfer"]?.numberValue, let total = stored["total"]?.numberValue
        else { return nil }
        self.init(connect: connect, firstByte: firstByte, transfer: transfer, total: total)
    }
}
