import Downloads
import Foundation
import HTTPSemantics
import Sealing
import TestKit
import Testing

@testable import Storage

/// A store whose key is lost goes on without the secrets that the key has sealed.
@Suite(.onSQLite) struct LostKeyTests {
    /// The store after the loss of its key file.
    private func storeWithoutKey() async throws -> (store: Store, jobs: [JobID], fixture: StoreFixture) {
        let fixture = try StoreFixture()
        let jobs = try await PlantedSecrets.plant(in: fixture.store)
        _ = try await fixture.store.createJobs([NewJob(session: .default, spec: JobSpec(url: "https://host/plain"))])
        try await fixture.store.close()
        try FileManager.default.removeItem(atPath: fixture.folder.path("fetchd.key"))
        return (try Store(at: fixture.folder.path, options: fixture.options, time: fixture.time), jobs, fixture)
    }

    @Test func knowsWhatIsLostOfAJob() async throws {
        let (store, jobs, fixture) = try await storeWithoutKey()
        defer { withExtendedLifetime(fixture) {} }
        let spec = try await store.job(jobs[0]).spec
        #expect(spec.lost == [.url, .headers, .credentials, .body])
        #expect(spec.url == "https://host/film.mkv?..." && spec.mirrors == ["https://mirror/film.mkv?..."])
        #expect(spec.headers.map(\.value) == ["[secret]", "video/mp4"])
        #expect(spec.credentials == nil && spec.body == nil && spec.tags == ["red"] && spec.method == .post)
        #expect(try await store.job(jobs[1]).part?.url == "https://host/film.mkv?...")
        let receipt = try await store.job(jobs[3]).state.finish?.receipt
        #expect(receipt?.finalURL == "https://cdn/film.mkv?...")
        #expect(receipt?.redirects == ["https://host/?...", "https://host/b"])
        let plain = try await store.jobs(JobQuery(session: .default)).jobs
        #expect(plain.map(\.spec.lost) == [[]])
        let resolved = ResolvedSpec(
            try await store.job(jobs[0]), in: try await store.session(PlantedSecrets.session).session.configuration)
        #expect(resolved.lossOfSecrets?.code == .credentialsRequired)
        #expect(resolved.waitFor(after: try #require(resolved.lossOfSecrets)) == [.credentials])
    }

    @Test func jobsGoOnWhenTheirSecretsAreSuppliedAgain() async throws {
        let (store, jobs, fixture) = try await storeWithoutKey()
        defer { withExtendedLifetime(fixture) {} }
        _ = try await store.admitJobs(AdmissionLimits(jobs: 1, connectionsPerHost: 100)) { _ in }
        let job = try await store.job(jobs[0])
        let configuration = try await store.session(PlantedSecrets.session).session.configuration
        let loss = try #require(ResolvedSpec(job, in: configuration).lossOfSecrets)
        _ = try await store.apply(.attemptDeferred(Wait(.credentials, cause: loss)), to: job.id)
        var spec = try await store.job(job.id).spec
        let before = spec
        spec.url = "https://host/film.mkv?signature=new"
        spec.endLoss(supplied: [.url])
        #expect(spec.lost == [.headers, .credentials, .body])
        _ = try await store.patchJob(job.id, from: before, to: spec, fields: [.url], expecting: nil)
        #expect(try await store.job(job.id).state == .queued)
    }

    @Test func sessionGoesOnWhenItIsDeclaredAgain() async throws {
        let (store, _, fixture) = try await storeWithoutKey()
        defer { withExtendedLifetime(fixture) {} }
        let name = PlantedSecrets.session
        let lost = try await store.session(name).session.configuration
        #expect(lost.lost == [.headers, .proxy])
        #expect(lost.headers.map(\.value) == ["[secret]", "[secret]", "video/mp4"])
        #expect(lost.proxy?.url == "socks5://127.0.0.1:1080" && lost.proxy?.username == nil)
        // What is sent back as it was shown is still lost.
        var shown = lost
        shown.lost = []
        #expect(try await store.declareSession(name, configuration: shown).status.session.configuration == lost)
        #expect(
            try await store.declareSession(name, configuration: PlantedSecrets.configuration).status.session
                .configuration == PlantedSecrets.configuration)
    }

    @Test func disablesWebhooksAndEnablesThemWhenTheyAreDeclaredAgain() async throws {
        let (store, _, fixture) = try await storeWithoutKey()
        defer { withExtendedLifetime(fixture) {} }
        let (name, session) = (PlantedSecrets.hook, PlantedSecrets.session)
        #expect(try await store.disableWebhooksWithoutSecrets() == 1)
        #expect(try await store.disableWebhooksWithoutSecrets() == 0)
        let webhook = try await store.webhook(name, of: session)
        #expect(webhook.state.reason == "The key that sealed its secrets is lost.")
        #expect(webhook.lost == [.url, .headers, .secret] && webhook.secret == nil)
        #expect(webhook.url == "https://consumer/hook?..." && webhook.headers.map(\.name) == ["X-Tenant"])
        await #expect(throws: StoreError.webhookSecretsLost(name, [.url, .headers, .secret])) {
            try await store.enableWebhook(name, of: session)
        }
        let rotated = try await store.rotateSecret(of: name, of: session, to: nil)
        #expect(rotated.secret != nil && rotated.formerSecrets.isEmpty)
        #expect(try await store.webhook(name, of: session).lost == [.url, .headers])
        await #expect(throws: StoreError.webhookSecretsLost(name, [.url])) {
            try await store.declareWebhook(name, of: session, as: WebhookDeclaration(url: webhook.url))
        }
        let declared = try await store.declareWebhook(
            name, of: session, as: WebhookDeclaration(url: "https://consumer/hook?new"))
        #expect(!declared.isNew && !declared.hasNewSecret)
        #expect(declared.webhook.state == .enabled() && declared.webhook.lost.isEmpty)
        #expect(declared.webhook.secret == rotated.secret)
    }

    @Test func aDeclarationMakesANewSecretForALostOne() async throws {
        let (store, _, fixture) = try await storeWithoutKey()
        defer { withExtendedLifetime(fixture) {} }
        let declared = try await store.declareWebhook(
            PlantedSecrets.hook, of: PlantedSecrets.session, as: WebhookDeclaration(url: "https://consumer/"))
        #expect(!declared.isNew && declared.hasNewSecret && declared.webhook.secret != nil)
    }

    @Test func aRepeatedRequestCreatesNothing() async throws {
        let (store, _, fixture) = try await storeWithoutKey()
        defer { withExtendedLifetime(fixture) {} }
        let count = try await store.jobs(JobQuery()).jobs.count
        await #expect(throws: StoreError.answerLost("k")) {
            try await store.createJobs(
                [NewJob(session: .default, spec: JobSpec(url: "https://host/"))], once: PlantedSecrets.claim
            ) { _ in PlantedSecrets.answer }
        }
        #expect(try await store.jobs(JobQuery()).jobs.count == count)
    }

    /// The sealed values stay until they are supplied again.
    @Test func readsEverythingAgainWithTheKeyThatWasFound() async throws {
        let fixture = try StoreFixture()
        let jobs = try await PlantedSecrets.plant(in: fixture.store)
        let lost = fixture.store.sealer.keys.current
        try await fixture.store.close()
        let file = KeyFile(path: fixture.folder.path("fetchd.key"))
        try FileManager.default.removeItem(atPath: file.path)
        var store = try Store(at: fixture.folder.path, options: fixture.options, time: fixture.time)
        let new = store.sealer.keys.current
        #expect(new.id != lost.id)
        try await store.close()
        try file.write([new, lost])
        store = try Store(at: fixture.folder.path, options: fixture.options, time: fixture.time)
        #expect(store.sealer.keys.current.id == new.id)
        try await PlantedSecrets.expectPresent(jobs, in: store)
    }

    @Test(.onSQLite) func anotherKeyIsAcceptedAfterTheLostOneIsGivenUp() async throws {
        let fixture = try StoreFixture()
        let jobs = try await PlantedSecrets.plant(in: fixture.store)
        try await fixture.store.close()
        let key = SealingKey.random()
        try KeyFile(path: fixture.folder.path("fetchd.key")).write([key])
        #expect(throws: StoreError.self) {
            try Store(at: fixture.folder.path, options: fixture.options, time: fixture.time)
        }
        try KeyRotation.giveUpKey(inDataFolder: fixture.folder.path)
        let store = try Store(at: fixture.folder.path, options: fixture.options, time: fixture.time)
        #expect(store.sealer.keys.current.id == key.id)
        #expect(try await store.job(jobs[0]).spec.lost.contains(.credentials))
    }
}
