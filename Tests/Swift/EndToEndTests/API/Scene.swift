import Downloads
import Formats
import TestKit

/// The fixture of API tests: a service, an origin to download from, and jobs in any state.
///
/// The service runs in the process of the tests, unless the test has the trait `.realProcess`.
struct Scene: Sendable {
    let fetchd: any TestedService
    let origin: Origin
    /// A server of its own for `/busy`: its answer closes the server for all jobs.
    let busy: Origin
    let bytes = Content.random(seed: 7, count: 200_000)
    /// Held responses continue when the test opens this gate.
    let gate = Gate()

    var api: APIClient { fetchd.api }

    /// The real program, in a test with the trait `.realProcess`.
    var process: FetchdProcess {
        guard let process = fetchd as? FetchdProcess else {
            preconditionFailure("The service has no process of its own. The test needs the trait .realProcess")
        }
        return process
    }

    /// - Parameter folder: of a service that has ended, which this one takes over.
    init(_ options: LocalService.Options = .init(), in folder: TemporaryFolder? = nil) async throws {
        if RealProcess.isWanted {
            precondition(options.configure == nil, "The program takes other options: Scene(process:)")
            try self.init(await FetchdProcess.start(.init(token: options.token), in: folder))
        } else {
            try self.init(await LocalService.start(options, in: folder))
        }
    }

    /// - Parameter options: of the real program.
    init(process options: FetchdProcess.Options, in folder: TemporaryFolder? = nil) async throws {
        try self.init(await FetchdProcess.start(options, in: folder))
    }

    private init(_ fetchd: any TestedService) throws {
        self.fetchd = fetchd
        origin = try Origin()
        origin.serve("/file", .file(bytes, contentType: "video/mp4"))
        origin.serve("/held", .file(bytes), .waiting(at: 100_000, for: gate))
        origin.serve("/missing", .fixed(status: 404))
        busy = try Origin()
        busy.serve("/busy", .fixed(status: 503, headers: [("Retry-After", "3600")]))
    }

    /// An order for `/file`, with additional members.
    func order(_ path: String = "/file", _ members: (String, JSON)...) -> JSON {
        var order: JSONObject = ["url": .string((path == "/busy" ? busy : origin).url(path))]
        for (name, value) in members { order[name] = value }
        return .object(order)
    }

    /// A job that stays in the given state until the test acts on it.
    func job(in state: JobState.Kind) async throws -> String {
        switch state {
        case .queued:
            try await api.declareSession("narrow", ["max_concurrent_jobs": 1])
            try await api.waitForBytes(api.submit(order("/held", ("session", "narrow"))))
            return try await api.submit(order("/file", ("session", "narrow")))
        case .running:
            let id = try await api.submit(order("/held"))
            try await api.waitForBytes(id)
            return id
        case .waiting:
            let id = try await api.submit(order("/busy"))
            try await api.waitForJob(id, .waiting)
            return id
        case .paused, .cancelled:
            let id = try await job(in: .running)
            let action = state == .paused ? "pause" : "cancel"
            let answer = try await api.post("/v1/jobs/\(id)/\(action)")
            guard answer.status == 200 else { throw Overdue("The job refused to \(action): \(answer)") }
            return id
        case .succeeded, .failed:
            let id = try await api.submit(order(state == .succeeded ? "/file" : "/missing"))
            try await api.waitForJob(id, state)
            return id
        }
    }

    /// Whether the service has no job and no event.
    func isUntouched() async throws -> Bool {
        let jobs = try await api.get("/v1/jobs").json["jobs"].count
        let events = try await api.events().count
        return jobs == 0 && events == 0
    }
}
