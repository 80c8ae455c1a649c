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
        let others = try await examine(folder, "--no-webhooks").findings
        #expect(levels(others, of: "webhooks") == ["ok"])
        // The service would refuse to start.
        try FileManager.default.removeItem(atPath: folder.path("data/fetchd.sqlite"))
        let missing = try await examine(folder)
        #expect(missing.status == .exited(1) && levels(missing.findings, of: "database") == ["error"], "\(missing)")
    }

    @Test func usesTheSettingsThatClientsHaveMade() async throws {
        let fetchd = try await FetchdProcess.start()
        #expect(try await levels(examine(fetchd.folder).findings, of: "addresses") == ["ok"])
        _ = try await fetchd.api.send("PATCH", "/v1/service", ["allow_network": ["127.0.0.0/8"]])
        #expect(try await levels(examine(fetchd.folder).findings, of: "addresses") == ["warning"])
    }
}
