import Downloads
import Foundation
import HTTPSemantics
import TestKit
import Testing

@testable import Storage

/// Every kind of secret that a store can hold. All of them contain `mark`, except the secrets of webhooks, which are
/// random.
enum PlantedSecrets {
    static let mark = "planted"
    static let session = Name(trusted: "films")
    static let hook = Name(trusted: "hook")
    static let former = WebhookSecret.random()
    static let present = WebhookSecret.random()
    static let claim = IdempotencyClaim(caller: "me", route: "POST /", key: "k", fingerprint: Data("b".utf8))
    static let answer = IdempotentResponse(
        location: "jobs/1", body: Array(#"{"url":"https://h/?planted-answer"}"#.utf8))

    /// No file of the folder may contain one of these.
    static var texts: [String] { [mark] + [former, present].map { String($0.text.dropFirst("whsec_".count)) } }

    static var configuration: SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.headers = [
            HeaderField(name: "Authorization", value: "Bearer planted-session"),
            HeaderField(name: "Cookie", value: "id=planted-cookie"), HeaderField(name: "Accept", value: "video/mp4"),
        ]
        configuration.proxy = Proxy("socks5://planted-user:planted-password@127.0.0.1:1080")
        configuration.waitFor = [.url]
        return configuration
    }

    static var spec: JobSpec {
        var spec = JobSpec(url: "https://planted-user:planted-password@host/film.mkv?signature=planted-query")
        spec.mirrors = ["https://mirror/film.mkv?planted-mirror"]
        spec.method = .post
        spec.body = .form([RequestBody.FormField(name: "password", value: "planted-form")])
        spec.headers = [
            HeaderField(name: "X-Api-Key", value: "planted-key"), HeaderField(name: "Accept", value: "video/mp4"),
        ]
        spec.credentials = .basic(username: "planted-user", password: "planted-basic")
        spec.tags = ["red"]
        return spec
    }

    static func promotion(of job: JobID) -> FinalizePlan {
        var promotion = StoreFixture.promotion(of: job)
        promotion.receipt.finalURL = "https://planted-user@cdn/film.mkv?planted-final"
        promotion.receipt.redirects = ["https://host/?planted-redirect", "https://host/b"]
        return promotion
    }

    static var part: Part {
        var part = StoreFixture.part()
        part.url = "https://host/film.mkv?planted-part"
        return part
    }

    /// - Returns: a job that is queued, one that waits with a part, one that is promoted, and one that has succeeded.
    static func plant(in store: Store) async throws -> [JobID] {
        _ = try await store.declareSession(session, configuration: configuration)
        let declaration = WebhookDeclaration(
            url: "https://planted-user:planted-password@consumer/hook?planted-hook",
            events: [EventPattern(trusted: "session.*")],
            headers: [HeaderField(name: "X-Tenant", value: "planted-hook")],
            secret: former)
        _ = try await store.declareWebhook(hook, of: session, as: declaration)
        _ = try await store.rotateSecret(of: hook, of: session, to: present)
        let jobs = try await store.createJobs((0..<4).map { _ in NewJob(session: session, spec: spec) }).map(\.id)
        _ = try await store.createJobs([NewJob(session: session, spec: spec)], once: claim) { _ in answer }
        _ = try await store.admitJobs(AdmissionLimits(jobs: 4, connectionsPerHost: 100)) { _ in }
        _ = try await store.apply(.attemptInterrupted, to: jobs[0])
        let wait = Wait(.url, cause: Failure(.linkExpired, "gone", attempts: 1, at: store.time.now))
        _ = try await store.apply(.attemptDeferred(wait), to: jobs[1], AttemptReport(part: part))
        for job in jobs[2...] { _ = try await store.apply(.finalizePlanned(promotion(of: job)), to: job) }
        _ = try await store.apply(.finalized(nil), to: jobs[3])
        return jobs
    }

    /// Everything that was planted is there again.
    static func expectPresent(
        _ jobs: [JobID], in store: Store, _ comment: Comment? = nil, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        for id in jobs {
            var expected = spec
            expected.priority = try await store.job(id).spec.priority
            #expect(try await store.job(id).spec == expected, comment, sourceLocation: location)
        }
        #expect(try await store.job(jobs[1]).part?.url == part.url, comment, sourceLocation: location)
        let promotion = try await store.job(jobs[2]).state.finalizePlan
        #expect(promotion == self.promotion(of: jobs[2]), comment, sourceLocation: location)
        let receipt = try await store.job(jobs[3]).state.finish?.receipt
        #expect(receipt == self.promotion(of: jobs[3]).receipt, comment, sourceLocation: location)
        let status = try await store.session(session)
        #expect(status.session.configuration == configuration, comment, sourceLocation: location)
        let webhook = try await store.webhook(hook, of: session)
        #expect(
            webhook.url == "https://planted-user:planted-password@consumer/hook?planted-hook", comment,
            sourceLocation: location)
        #expect(
            webhook.headers == [HeaderField(name: "X-Tenant", value: "planted-hook")], comment, sourceLocation: location
        )
        #expect(webhook.secret == present, comment, sourceLocation: location)
        #expect(webhook.formerSecrets.map(\.secret) == [former], comment, sourceLocation: location)
        #expect(webhook.lost.isEmpty, comment, sourceLocation: location)
        #expect(try await store.rememberedAnswer(to: claim) == answer, comment, sourceLocation: location)
    }

    /// No file of the folder contains a planted secret in plain text.
    static func expectHidden(
        in folder: TemporaryFolder, _ comment: Comment? = nil, _ location: SourceLocation = #_sourceLocation
    ) {
        for file in folder.files {
            let bytes = Data(folder.bytes(of: file) ?? [])
            for text in texts {
                #expect(
                    bytes.range(of: Data(text.utf8)) == nil, "\(text) is in \(file). \(comment ?? "")",
                    sourceLocation: location)
            }
        }
    }
}
