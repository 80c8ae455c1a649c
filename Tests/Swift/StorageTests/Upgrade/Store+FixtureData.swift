import Downloads
import Foundation
import Testing

@testable import Storage

/// What must hold for a store that has upgraded the data of a fixture, on both engines.
extension Store {
    /// Every row can be read as a value, and no secret is lost.
    func expectDataOfFixture(jobs count: Int) async throws {
        let jobs = try await jobs(JobQuery(limit: 1000)).jobs
        #expect(jobs.count == count)
        #expect(Set(jobs.map(\.state.name)) == Set(JobState.Kind.allCases))
        #expect(jobs.allSatisfy { $0.spec.lost.isEmpty && $0.spec.url.hasPrefix("https://h") })
        let tokens = jobs.compactMap { job in if case .bearer(let token)? = job.spec.credentials { token } else { nil }
        }
        #expect(tokens == ["fixture-token"])
        let finals = jobs.compactMap { $0.state.finish?.receipt.finalURL }
        #expect(finals == ["https://h/a?signature=fixture-query"] || finals == ["https://host/"])
        let films = try await session(Name(trusted: "films")).session.configuration
        #expect(films.headers.map(\.value) == ["fixture-session"] && films.lost.isEmpty)
        let webhook = try await webhook(Name(trusted: "hook"), of: .default)
        #expect(webhook.url.hasSuffix("?key=fixture-hook") && webhook.lost.isEmpty && webhook.secret != nil)
        let gone = try await self.webhook(Name(trusted: "gone"), of: Name(trusted: "films"))
        #expect(gone.state.name == .disabled)
        #expect(try await events(EventQuery(limit: 1000)).events.count >= 6)
        #expect(try await statistics().pendingDeliveries >= 1)
        #expect(try await parts().isEmpty == false)
    }

    /// The service finishes batches, admits jobs and assigns larger identifiers.
    func expectToContinue() async throws {
        let (last, newest) = (try await lastEvent(), try await jobs(JobQuery(limit: 1)).jobs[0].id)
        _ = try await recoverInterrupted()
        let job = try await createJobs([NewJob(session: .default, spec: JobSpec(url: "https://h/new"))])[0]
        #expect(job.id.text > newest.text)
        #expect(try await lastEvent() > last)
        _ = try await admitJobs(AdmissionLimits(jobs: 100, connectionsPerHost: 100)) { _ in }
        #expect(try await self.job(job.id).state.name == .running)
        #expect(try await compareCounts().drifts.isEmpty)
    }
}
