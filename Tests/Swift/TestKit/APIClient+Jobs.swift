import Downloads
import Formats

/// Steps that most tests share.
extension APIClient {
    /// Declares a session; without a configuration, attaches to it.
    @discardableResult
    public func declareSession(_ name: String, _ configuration: JSON? = nil) async throws -> JSON {
        let answer = try await put("/v1/sessions/\(name)", configuration)
        guard [200, 201].contains(answer.status) else { throw UnexpectedAnswer("PUT of the session \(name)", answer) }
        return answer.json
    }

    /// Declares a webhook and returns its secret.
    @discardableResult
    public func declareWebhook(
        _ name: String = "receiver", of session: String = "default", url: String, events: [String]? = nil,
        secret: String? = nil
    ) async throws -> String {
        var body: JSONObject = ["url": .string(url)]
        if let events { body["events"] = .strings(events) }
        if let secret { body["secret"] = .string(secret) }
        let answer = try await put("/v1/sessions/\(session)/webhooks/\(name)", .object(body))
        guard answer.status == 201, let secret = answer.json["secret"].string else {
            throw UnexpectedAnswer("PUT of the webhook \(name)", answer)
        }
        return secret
    }

    /// Creates a job and returns its identifier.
    @discardableResult
    public func submit(_ job: JSON) async throws -> String {
        let answer = try await post("/v1/jobs", job)
        guard answer.status == 201, let id = answer.json["id"].string else {
            throw UnexpectedAnswer("POST of a job", answer)
        }
        return id
    }

    public func job(_ id: String) async throws -> JSON {
        let answer = try await get("/v1/jobs/\(id)")
        guard answer.status == 200 else { throw UnexpectedAnswer("GET of \(id)", answer) }
        return answer.json
    }

    public func session(_ name: String = "default") async throws -> JSON {
        let answer = try await get("/v1/sessions/\(name)")
        guard answer.status == 200 else { throw UnexpectedAnswer("GET of the session \(name)", answer) }
        return answer.json
    }

    /// All events from the beginning, or those of one job.
    public func events(of job: String? = nil) async throws -> [JSON] {
        var (events, after): ([JSON], Int64) = ([], 0)
        while true {
            let answer = try await get("/v1/events?after=\(after)&limit=1000" + (job.map { "&job=\($0)" } ?? ""))
            guard answer.status == 200, let page = answer.json["events"].arrayValue,
                let next = answer.json["next_after"].integer
            else { throw UnexpectedAnswer("GET of the events", answer) }
            events += page
            if page.isEmpty || next == after { return events }
            after = next
        }
    }
}

// MARK: - Waiting

extension APIClient {
    /// Waits until the job satisfies the condition, and returns it.
    @discardableResult
    public func waitForJob(
        _ id: String, toBe what: String, atMost timeout: Duration = .patience, _ isWanted: (JSON) -> Bool
    ) async throws -> JSON {
        var last = JSON.null
        do {
            return try await eventually("job \(id) to be \(what)", atMost: timeout) {
                last = try await job(id)
                // A plain `nil` would be a JSON value.
                return isWanted(last) ? last : JSON?.none
            }
        } catch let overdue as Overdue {
            throw Overdue("\(overdue) At last it was \(last.written)")
        }
    }

    /// Throws early if the job ends in another state.
    @discardableResult
    public func waitForJob(
        _ id: String, _ state: JobState.Kind, atMost timeout: Duration = .patience
    ) async throws -> JSON {
        let job = try await waitForJob(id, toBe: state.rawValue, atMost: timeout) { job in
            let now = job["state"].string.flatMap(JobState.Kind.init(rawValue:))
            return now == state || !(now?.isOutstanding ?? true)
        }
        guard job["state"].string == state.rawValue else {
            throw Overdue("Waited in vain for job \(id) to be \(state.rawValue). It has ended: \(job.written)")
        }
        return job
    }

    /// Waits until bytes have arrived, and returns the job.
    @discardableResult
    public func waitForBytes(_ id: String, atLeast count: Int64 = 1, durable: Bool = false) async throws -> JSON {
        let name = durable ? "bytes_durable" : "bytes_received"
        return try await waitForJob(id, toBe: "at \(count) \(name)") { ($0["progress"][name].integer ?? 0) >= count }
    }
}
