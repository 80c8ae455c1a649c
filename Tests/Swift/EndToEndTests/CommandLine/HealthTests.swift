import Foundation
import TestKit
import Testing

/// `fetchd health`, with which a container engine asks whether the service is ready.
@Suite struct HealthTests {
    @Test func succeedsWithoutTokenWhileServiceIsReady() async throws {
        let cli = try await CommandLineScene(.init(token: "secret"))
        let outcome = try await cli.run("health")
        #expect(outcome.succeeded && outcome.output == "ready\n" && outcome.errors.isEmpty, "\(outcome)")
        let json = try await cli.run("health", "--json")
        #expect(json.succeeded && json.json["status"] == "ready", "\(json)")
    }

    @Test func printsWhyServiceIsNotReady() async throws {
        let cli = try await CommandLineScene()
        let downloads = cli.fetchd.folder.path("downloads")
        try FileManager.default.moveItem(atPath: downloads, toPath: downloads + "-away")
        _ = try await cli.api.submit(["url": .string(cli.url("/file"))])
        let outcome = try await eventually("the service to be unready") {
            let outcome = try await cli.run("health")
            return outcome.succeeded ? nil : outcome
        }
        #expect(outcome.ending == .exited(69) && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors.contains("The downloads folder does not work"), "\(outcome)")
    }

    @Test func failsWithoutServiceAndForAnotherServer() async throws {
        let none = try await FetchdProcess.run(["health"], environment: ["FETCHD_URL": "http://127.0.0.1:1"])
        #expect(none.ending == .exited(69) && none.errors.contains("is not answering"), "\(none)")
        let other = try Origin()
        for body in ["<html>", #"{"status": "alive"}"#] {
            other.serve("/readyz", .fixed(body: Array(body.utf8)))
            let outcome = try await FetchdProcess.run(["health"], environment: ["FETCHD_URL": other.url("")])
            #expect(outcome.ending == .exited(76) && outcome.output.isEmpty, "\(outcome)")
        }
    }
}
