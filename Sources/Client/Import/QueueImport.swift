import Formats

/// Imports a file of `fetchd export`: sessions first, then their jobs, then webhooks, so that webhooks get no events of the
/// import.
struct QueueImport: Sendable {
    let service: RemoteService

    func run(_ lines: [(place: String, line: QueueLine)], into summary: inout ImportSummary) async throws {
        var jobs: [ImportedJob] = []
        for (place, line) in lines {
            switch line {
            case .header, .webhook: break
            case .session(let name, let configuration, let missing):
                try await declare(name, configuration, missing, place, &summary)
            case .job(let job): jobs.append(job)
            }
        }
        try await JobImport(service: service).run(jobs, into: &summary)
        for case (let place, .webhook(let session, let name, let declaration, let missing)) in lines {
            try await declare(name, of: session, declaration, missing, place, &summary)
        }
    }

    /// A session that has been used keeps its configuration.
    private func declare(
        _ name: String, _ configuration: JSON, _ missing: [String], _ place: String, _ summary: inout ImportSummary
    ) async throws {
        let path = RequestPath("sessions", name)
        if let present = try await found(path), Self.isUsed(present, name) {
            summary.present += 1
            return
        }
        switch try await put(configuration, at: path) {
        case .refused(let why): summary.fail(place, why)
        case .declared:
            summary.sessions += 1
            if !missing.isEmpty { summary.remark(place, Self.missing(missing, "session \(name)")) }
        }
    }

    private func declare(
        _ name: String, of session: String, _ declaration: JSON, _ missing: [String], _ place: String,
        _ summary: inout ImportSummary
    ) async throws {
        let path = RequestPath("sessions", session, "webhooks", name)
        if try await found(path) != nil {
            summary.present += 1
            return
        }
        guard !missing.contains("url"), !missing.contains("headers") else {
            return summary.fail(place, Self.missing(missing, "webhook \(name) of session \(session)"))
        }
        switch try await put(declaration, at: path) {
        case .refused(let why): summary.fail(place, why)
        case .declared(let answer):
            summary.webhooks += 1
            guard missing.contains("secret"), let secret = JSONText(answer.body)["secret"]?.string else { return }
            summary.remark(place, "The webhook \(name) of session \(session) has a new secret: \(secret)")
        }
    }

    private enum Declaration {
        case declared(Answer)
        case refused(String)
    }

    private func put(_ declaration: JSON, at path: RequestPath) async throws -> Declaration {
        do {
            return .declared(try await service.send("PUT", path, JSONText(declaration).bytes))
        } catch {
            guard error.status == .refused || error.status == .missing else { throw error }
            return .refused(error.sentence)
        }
    }

    /// The session `default` always exists. Without an event it is as new.
    private static func isUsed(_ session: JSONText, _ name: String) -> Bool {
        name != "default" || session["last_event"] != JSONText(0 as JSON)
    }

    private func found(_ path: RequestPath) async throws -> JSONText? {
        do throws(ClientError) {
            return JSONText(try await service.send("GET", path).body)
        } catch {
            guard error.status == .missing else { throw error }
            return nil
        }
    }

    private static func missing(_ names: [String], _ owner: String) -> String {
        "The file does not have the secrets of \(owner): \(names.joined(separator: ", ")). Declare it with them, or export with --with-secrets."
    }
}
