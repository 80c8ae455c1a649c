import Downloads
import HTTPSemantics
import Testing

/// Which changes of a job or its session, made while an attempt runs, the end of that attempt does not count for.
@Suite struct ChangedSpecificationTests {
    private struct Change<Changed> {
        let name: String
        let mayEndOtherwise: Bool
        let make: (inout Changed) -> Void

        init(_ name: String, mayEndOtherwise: Bool, _ make: @escaping (inout Changed) -> Void) {
            (self.name, self.mayEndOtherwise, self.make) = (name, mayEndOtherwise, make)
        }
    }

    @Test func comparesJobs() {
        let changes: [Change<Job>] = [
            Change("nothing", mayEndOtherwise: false) { _ in },
            Change("url", mayEndOtherwise: true) { $0.spec.url = "https://host/other" },
            Change("mirrors", mayEndOtherwise: true) { $0.spec.mirrors.append("https://third/") },
            Change("first URL again", mayEndOtherwise: true) { $0.mirror = 0 },
            Change("headers", mayEndOtherwise: true) { $0.spec.headers = [HeaderField(name: "X-Key", value: "1")] },
            Change("credentials", mayEndOtherwise: true) { $0.spec.credentials = .bearer(token: "t") },
            Change("wait_for", mayEndOtherwise: true) { $0.spec.waitFor = [.url] },
            Change("lost secrets", mayEndOtherwise: true) { $0.spec.lost = [.headers] },
            Change("default wait_for", mayEndOtherwise: false) { $0.spec.waitFor = WaitFor.defaults },
            Change("priority", mayEndOtherwise: false) { $0.spec.priority = .high },
            Change("rate", mayEndOtherwise: false) { $0.spec.rateLimit = 1000 },
            Change("destination", mayEndOtherwise: false) { $0.spec.destination.filename = "other" },
            Change("deadline", mayEndOtherwise: false) { $0.spec.deadline = Sample.now },
            Change("progress", mayEndOtherwise: false) { $0.failuresInARow = 3 },
        ]
        for change in changes {
            var job = Sample.job(.running(.attempting))
            job.spec.mirrors = ["https://mirror/"]
            job.mirror = 1
            let used = ResolvedSpec(job, in: SessionConfiguration())
            change.make(&job)
            let present = ResolvedSpec(job, in: SessionConfiguration())
            #expect(used.endsLike(present) != change.mayEndOtherwise, "\(change.name)")
        }
    }

    @Test func comparesSessions() {
        let changes: [Change<SessionConfiguration>] = [
            Change("proxy", mayEndOtherwise: true) { $0.proxy = Proxy("http://me:pw@proxy:3128") },
            Change("proxy credentials", mayEndOtherwise: true) { $0.proxy?.password = "other" },
            Change("headers", mayEndOtherwise: true) { $0.headers = [HeaderField(name: "X-Key", value: "1")] },
            Change("user agent", mayEndOtherwise: true) { $0.userAgent = "other" },
            Change("tls", mayEndOtherwise: true) { $0.tls.verify = false },
            Change("wait_for", mayEndOtherwise: true) { $0.waitFor = [.credentials] },
            Change("retry", mayEndOtherwise: true) { $0.retry = RetryPolicy() },
            Change("lost secrets", mayEndOtherwise: true) { $0.lost = [.proxy] },
            Change("default user agent", mayEndOtherwise: false) {
                $0.userAgent = SessionConfiguration.defaultUserAgent
            },
            Change("rate", mayEndOtherwise: false) { $0.rateLimit = 1000 },
            Change("limits", mayEndOtherwise: false) { $0.maxConcurrentJobs = 1 },
        ]
        for change in changes {
            var configuration = SessionConfiguration()
            configuration.proxy = Proxy("http://me@proxy:3128")
            configuration.retry = RetryPolicy()
            configuration.retry?.maxAttempts = 2
            let used = ResolvedSpec(Sample.job(), in: configuration)
            change.make(&configuration)
            let present = ResolvedSpec(Sample.job(), in: configuration)
            #expect(used.endsLike(present) != change.mayEndOtherwise, "\(change.name)")
        }
    }

    /// A session's value that the job replaces does not matter.
    @Test func ignoresValuesThatTheJobReplaces() {
        var (job, configuration) = (Sample.job(), SessionConfiguration())
        job.spec.waitFor = [.space]
        job.spec.headers = [HeaderField(name: "X-Key", value: "job")]
        let used = ResolvedSpec(job, in: configuration)
        configuration.waitFor = [.url]
        configuration.headers = [HeaderField(name: "x-key", value: "session")]
        #expect(used.endsLike(ResolvedSpec(job, in: configuration)))
    }

    @Test func knowsFailuresThatDependOnTheSpecification() {
        let others: Set<Failure.Code> = [.destinationExists, .destinationInvalid, .deadlineExceeded]
        for code in Failure.Code.allCases {
            #expect(Failure(code, "").dependsOnSpecification != others.contains(code), "\(code)")
        }
    }
}
