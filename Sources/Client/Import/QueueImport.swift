import Formats

/// Imports a file of `fetchd export`: sessions first, then their jobs, then webhooks, so that webhooks get no events of the
/// import.
struct QueueImport: Sendable {
    let service: RemoteService

    func run(_ lines: [(place: String, line: QueueLine)], into summary: inout ImportSummary) async throws {
        var jobs: [ImportedJob] = []
        for (place, line) in lines {
            if case .session(let session) = line { try await declare(session: session, from: place, &summary) }
            if case .job(let job) = line { jobs.append(job) }
        }
        try await JobImport(service: service).run(jobs, into: &summary)
        for case (let place, .webhook(let webhook)) in lines {
            try await declare(webhook: webhook, from: place, &summary)
        }
    }

    /// A session that has been used keeps its configuration.
    private func declare(
        session: QueueLine.Declaration, from place: String, _ summary: inout ImportSummary
    ) async throws {
        // The session `default` always exists. Without an event it is as new.
        if let present = try await found(session), session.name != "default" || present["last_event"] != 0 {
            summary.present += 1
        } else if try await put(session, from: place, &summary) != nil {
            summary.sessions += 1
            if !session.missing.isEmpty { summary.remark(place, session.secretsMissing) }
        }
    }

    private func declare(
        webhook: QueueLine.Declaration, from place: String, _ summary: inout ImportSummary
    ) async throws {
        if try await found(webhook) != nil {
            summary.present += 1
        } else if webhook.missing.contains("url") || webhook.missing.contains("headers") {
            summary.fail(place, webhook.secretsMissing)
        } else if let response = try await put(webhook, from: place, &summary) {
            summary.webhooks += 1
            guard webhook.missing.contains("secret"), let secret = response.text["secret"]?.stringValue else { return }
            summary.remark(place, "The \(webhook.title) has a new secret: \(secret)")
        }
    }

    /// - Returns: nil if the service refuses the declaration.
    private func put(
        _ declaration: QueueLine.Declaration, from place: String, _ summary: inout ImportSummary
    ) async throws -> Response? {
        do throws(ClientError) {
            return try await service.send("PUT", declaration.path, declaration.body)
        } catch {
            guard error.status == .refused || error.status == .missing else { throw error }
            summary.fail(place, error.sentence)
            return nil
        }
    }

    private func found(_ declaration: QueueLine.Declaration) async throws -> JSON? {
        do throws(ClientError) {
            return try await service.send("GET", declaration.path).text
        } catch {
            guard error.status == .missing else { throw error }
            return nil
        }
    }
}

extension QueueLine.Declaration {
    fileprivate var secretsMissing: String {
        "The file does not have the secrets of \(title): \(missing.joined(separator: ", ")). Declare it with them, or export with --with-secrets."
    }
}

/// One line of a file of `fetchd export`.
enum QueueLine: Sendable {
    case header
    case session(Declaration)
    case webhook(Declaration)
    case job(ImportedJob)

    struct Declaration: Sendable {
        let path: RequestPath
        let name: String
        /// The title names the session or the webhook in messages.
        let title: String
        let body: JSON
        let missing: [String]
    }

    /// The latest form of the file that this program reads.
    static let version: Int64 = 1

    init(_ text: some Collection<UInt8>, place: String) throws(ImportFault) {
        let parsed: JSON
        do { parsed = try JSON(parsing: Array(text)) } catch { throw ImportFault(reason: "It is no JSON: \(error)") }
        guard let object = parsed.objectValue, let kind = object["kind"]?.stringValue else {
            throw ImportFault(reason: "It is no object with the member kind.")
        }
        let missing = (object["missing"]?.arrayValue ?? []).compactMap(\.stringValue)
        switch kind {
        case "fetchd-export":
            guard let version = object["version"]?.integerValue, version <= Self.version else {
                throw ImportFault(reason: "A newer version of fetchd has written the file.")
            }
            self = .header
        case "session":
            let name = try Self.text("id", object)
            self = .session(
                Declaration(
                    path: RequestPath("sessions", name), name: name, title: "session \(name)",
                    body: try Self.member("configuration", object), missing: missing))
        case "webhook":
            let session = try Self.text("session", object)
            let name = try Self.text("name", object)
            self = .webhook(
                Declaration(
                    path: RequestPath("sessions", session, "webhooks", name), name: name,
                    title: "webhook \(name) of session \(session)",
                    body: try Self.member("declaration", object), missing: missing))
        case "job":
            guard let body = try Self.member("request", object).objectValue else {
                throw ImportFault(reason: "The member request must be an object.")
            }
            self = .job(
                ImportedJob(
                    place: place, origin: try Self.text("id", object), body: body,
                    isPaused: object["state"]?.stringValue == "paused", missing: missing))
        case _: throw ImportFault(reason: "The kind \(Printable(kind)) is not known.")
        }
    }

    private static func member(_ name: String, _ object: JSONObject) throws(ImportFault) -> JSON {
        guard let value = object[name] else { throw ImportFault(reason: "The member \(name) is missing.") }
        return value
    }

    private static func text(_ name: String, _ object: JSONObject) throws(ImportFault) -> String {
        guard let text = object[name]?.stringValue else {
            throw ImportFault(reason: "The member \(name) must be a string.")
        }
        return text
    }
}
