import Formats
import Foundation
import Glibc
import TestKit
import Testing

/// `fetchd doctor` finds planted faults, says what to do, and changes nothing.
@Suite(.onSQLite) struct DoctorTests {
    private func examine(
        _ folder: TemporaryFolder, _ arguments: String...
    ) async throws -> (status: ChildProcess.Ending, findings: [JSON]) {
        let outcome = try await FetchdProcess.run(
            [
                "doctor", "--json", "--data-dir", folder.path("data"), "--downloads-dir", folder.path("downloads"),
            ] + arguments)
        return (outcome.ending, outcome.json["findings"].arrayValue ?? [])
    }

    private func levels(_ findings: [JSON], of check: String) -> [String?] {
        findings.filter { $0["check"].string == check }.map { $0["level"].string }
    }

    @Test func findsNoFaultBesideARunningService() async throws {
        let fetchd = try await FetchdProcess.start()
        _ = try await fetchd.api.submit(["url": "https://host.invalid/file"])
        let (status, findings) = try await examine(fetchd.folder, "--thorough")
        #expect(status == .exited(0))
        for check in ["service", "folders", "database", "parts", "key"] {
            #expect(levels(findings, of: check) == ["ok"], "\(findings)")
        }
        #expect(findings.allSatisfy { $0["level"].string == "ok" || $0["remedy"].string != nil })
        #expect(try await fetchd.api.get("/readyz").status == 200)
    }

    @Test func findsPlantedFaults() async throws {
        let fetchd = try await FetchdProcess.start()
        let receiver = try HangUpPort()
        _ = try await fetchd.api.put(
            "/v1/sessions/default/webhooks/hook", ["url": .string("http://127.0.0.1:\(receiver.number)/")])
        try await fetchd.stop()
        let folder = fetchd.folder
        try folder.write("left over", to: "downloads/.incomplete/part_x.part")
        chmod(folder.path("data/fetchd.sqlite"), 0o644)
        let key = folder.bytes(of: "data/fetchd.key")
        try FileManager.default.removeItem(atPath: folder.path("data/fetchd.key"))
        let before = folder.bytes(of: "data/fetchd.sqlite")
        let (status, findings) = try await examine(folder)
        #expect(status == .exited(1))
        #expect(levels(findings, of: "key") == ["error"], "\(findings)")
        #expect(levels(findings, of: "folders") == ["warning"])
        #expect(levels(findings, of: "parts") == ["warning"])
        #expect(levels(findings, of: "webhooks") == ["warning"])
        #expect(folder.bytes(of: "data/fetchd.sqlite") == before && key != nil)
        #expect(folder.bytes(of: "downloads/.incomplete/part_x.part") != nil)
        // A link to itself is as closed as a folder of another user.
        try FileManager.default.removeItem(atPath: folder.path("downloads/.incomplete"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("downloads/.incomplete"), withDestinationPath: ".incomplete")
        let others = try await examine(folder, "--no-webhooks").findings
        #expect(levels(others, of: "webhooks") == ["ok"] && levels(others, of: "parts") == ["skipped"], "\(others)")
        // The service would refuse to start.
        try FileManager.default.removeItem(atPath: folder.path("data/fetchd.sqlite"))
        let missing = try await examine(folder)
        #expect(missing.status == .exited(1) && levels(missing.findings, of: "database") == ["error"], "\(missing)")
    }

    @Test func saysNothingGoodAboutWhatItCannotSee() async throws {
        let folder = try TemporaryFolder()
        let mistyped = try await examine(folder)
        #expect(mistyped.status == .exited(0))
        for (check, expected) in [
            ("service", ["skipped"]), ("folders", ["warning", "warning"]), ("database", ["skipped"]),
            ("space", ["skipped", "skipped"]), ("parts", []), ("key", []), ("webhooks", []),
        ] {
            #expect(levels(mistyped.findings, of: check) == expected, "\(mistyped.findings)")
        }
        try FileManager.default.createDirectory(atPath: folder.path("data"), withIntermediateDirectories: true)
        for name in ["fetchd.sqlite", "lock"] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("data/\(name)"), withDestinationPath: name)
        }
        let hidden = try await examine(folder).findings
        for check in ["service", "database", "addresses"] {
            #expect(levels(hidden, of: check) == ["skipped"], "\(hidden)")
        }
    }

    @Test func warnsOfMisspelledVariables() async throws {
        let environment = ["FETCHD_DATADIR": "/x", "FETCHD_PORT": "tcp://10.0.0.1:8080"]
        let outcome = try await FetchdProcess.run(["doctor", "--json"], environment: environment)
        let findings = outcome.json["findings"].arrayValue ?? []
        let message = findings.first { $0["check"].string == "configuration" }?["message"].string
        #expect(
            message
                == "The environment variable FETCHD_DATADIR is no setting of fetchd and has no effect. Did you mean FETCHD_DATA_DIR?"
        )
    }

    @Test func usesTheSettingsThatClientsHaveMade() async throws {
        let fetchd = try await FetchdProcess.start()
        #expect(try await levels(examine(fetchd.folder).findings, of: "addresses") == ["ok"])
        _ = try await fetchd.api.send("PATCH", "/v1/service", ["allow_network": ["127.0.0.0/8"]])
        #expect(try await levels(examine(fetchd.folder).findings, of: "addresses") == ["warning"])
    }
}
