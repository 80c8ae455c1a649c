import Base
import Downloads
import Formats
import Foundation
import HTTPSemantics
import HTTPServer
import Lists
import Storage

/// What a request asks to import, and for whom. It is stored with the list, so that an import continues after a crash.
struct ImportRequest: Sendable {
    /// The session of the jobs whose lines name none.
    var session: Name
    var format: ListFormat
    var base: String?
    /// Whether the jobs of the good lines are created if other lines have faults.
    var keepsGoing: Bool
    /// The identity of the caller, with which its keys begin.
    var identity: String
    var token: TokenID?
    var trace: TraceContext?
    var note: AuditNote

    /// - Throws: 422 for parameters that do not fit, 403 for a session of other callers.
    init(_ context: RequestContext) throws(Problem) {
        let (session, format, base, keepsGoing) = try context.query { query throws(Problem) in
            (
                try query.name("session") ?? .default, try query.choice("format", of: ListFormat.self),
                try query.value("base"), try query.choice("keep_going", of: Choice.self) == .true
            )
        }
        let mediaType = context.head.mediaType
        guard let format = format ?? ListFormat(mediaType: mediaType) else {
            let formats = ListFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(
                .missingField, "\(mediaType) has lists of several formats: add ?format= with one of \(formats).")
        }
        if let fault = format.fault(inBase: base) { throw Problem(.invalidValue, "The parameter base \(fault).") }
        try context.caller.requireWritable(session)
        (self.session, self.format, self.base, self.keepsGoing) = (session, format, base, keepsGoing)
        identity = context.caller.identity
        token = context.caller.token?.id
        trace = context.trace
        note = context.auditNote
        note.target = session.text
    }

    private enum Choice: String, CaseIterable { case `true`, `false` }

    /// What makes two imports of the same list different.
    var fingerprint: [UInt8] { Array("\(session)\0\(format.rawValue)\0\(base ?? "")\0\(keepsGoing)\0".utf8) }

    static let route = "POST /v1/jobs/import"
}

/// The request as the first piece of its list.
extension ImportRequest {
    var header: [UInt8] {
        let document: JSON = [
            "session": .string(session.text), "format": .string(format.rawValue), "base": .optional(base),
            "keep_going": .bool(keepsGoing), "identity": .string(identity), "token": .optional(token?.text),
            "trace_parent": .optional(trace?.parent), "trace_state": .optional(trace?.state),
            "caller": .optional(note.caller), "name": .optional(note.name?.text), "address": .string(note.address),
        ]
        return document.bytes
    }

    /// nil for bytes that are no header.
    init?(header: [UInt8]) {
        guard let document = try? JSON(parsing: header).objectValue,
            let session = document["session"]?.stringValue.flatMap({ Name($0) }),
            let format = document["format"]?.stringValue.flatMap({ ListFormat(rawValue: $0) }),
            let keepsGoing = document["keep_going"]?.boolValue, let identity = document["identity"]?.stringValue,
            let address = document["address"]?.stringValue
        else { return nil }
        (self.session, self.format, self.keepsGoing, self.identity) = (session, format, keepsGoing, identity)
        base = document["base"]?.stringValue
        token = document["token"]?.stringValue.map { TokenID($0) }
        trace = document["trace_parent"]?.stringValue.flatMap {
            TraceContext(parent: $0, state: document["trace_state"]?.stringValue)
        }
        note = AuditNote(
            caller: document["caller"]?.stringValue, name: document["name"]?.stringValue.map { Name(trusted: $0) },
            address: address, action: Self.route, target: session.text)
    }
}

/// Makes jobs of the entries of a list.
struct ImportedJobs: Sendable {
    let request: ImportRequest
    let rules: NewJobRules
    let caller: Caller

    /// The job of an entry.
    ///
    /// - Parameter isChecked: false if the entry was checked before: what depends on the time is not checked again.
    /// - Throws: 422 with a pointer into the entry.
    func job(_ entry: ListEntry, isChecked: Bool = true) throws(Problem) -> NewJob {
        var object: JSONObject
        do throws(ListFault) { object = try entry.job.get() } catch { throw Problem(.invalidValue, error.reason) }
        if object["session"] ?? .null == .null { object["session"] = .string(request.session.text) }
        var reader = FieldReader(object)
        guard object["resume_from"] == nil || object["resume_from"] == .null else {
            throw reader.invalid("resume_from", "cannot be used in a list")
        }
        let new = try rules.job(&reader, for: caller, isChecked: isChecked)
        try reader.finish()
        return new
    }

    var creator: JobCreator {
        var creator = caller.creator
        creator.trace = request.trace
        return creator
    }
}
