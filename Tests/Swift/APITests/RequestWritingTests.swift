import Downloads
import Formats
import Foundation
import HTTPSemantics
import Storage
import Testing

@testable import API

/// What is written as a request is read as the same value. So an export loses nothing.
@Suite struct RequestWritingTests {
    private static let job: JSON = [
        "urls": ["https://h/1?q=1", "https://m/1"], "session": "films", "method": "POST", "form": ["b": "2", "a": "1"],
        "headers": ["X-A": "1", "Authorization": "secret"],
        "credentials": ["type": "digest", "username": "u", "password": "p"],
        "destination": [
            "location": "films", "directory": "d/e", "filename": "{job_id}.bin", "on_conflict": "error",
            "create_directories": false, "staging": "whole",
        ],
        "priority": "high", "connections": 4, "expected_size": 7, "max_size": 9, "digest": "none", "decode": true,
        "resume_policy": "evidence", "checksum": ["algorithm": "md5", "value": "d41d8cd98f00b204e9800998ecf8427e"],
        "timeouts": ["request_seconds": 1.5, "connect_seconds": 2.0, "resource_seconds": 3.0],
        "retry": ["max_attempts": 2, "base_seconds": 0.5, "max_seconds": 7.0], "wait_for": ["url", "credentials"],
        "rate_limit_bytes_per_second": 1000, "not_before": "2031-01-02T03:04:05.000Z",
        "deadline": "2032-01-02T03:04:05.000Z",
        "tags": ["a", "b"], "metadata": ["k": ["deep": [1, 2]]],
    ]

    private static let session: JSON = [
        "headers": ["Cookie": "c"], "user_agent": "me", "timeouts": ["request_seconds": 1.0], "max_concurrent_jobs": 2,
        "max_connections_per_host": 3, "retry": ["max_attempts": 4, "base_seconds": 1.0, "max_seconds": 2.0],
        "destination": ["location": "films"], "directory": "d", "on_conflict": "replace", "wait_for": [],
        "digest": "none", "decode": true, "priority": "low",
        "resume_policy": "evidence",
        "finish_delay_seconds": 2.5, "metadata": ["k": 1], "rate_limit_bytes_per_second": 5,
        "minimum_bytes_per_second": 6, "tls": ["verify": false], "proxy": "http://us%40er:p%3Aw@proxy:3128",
        "resume_data_ttl_seconds": 60.0, "connections": 2, "max_total_size": 99, "acknowledgement": "none",
    ]

    private func job(_ json: JSON) throws -> (spec: JobSpec, request: JSON) {
        var reader = FieldReader(json.objectValue ?? [:])
        _ = reader.value("session")
        let spec = try JobSpec(reading: &reader)
        try reader.finish()
        return (spec, spec.request(in: Name(trusted: "films")))
    }

    @Test func aJobSurvivesARoundTrip() throws {
        let (spec, request) = try job(Self.job)
        #expect(request == Self.job, "\(request.written)")
        #expect(try job(request).spec == spec)
        let least: JSON = ["url": "https://h/", "session": "films"]
        #expect(try job(least).request == least)
    }

    @Test(
        arguments: [
            ["url": "https://h/", "session": "films", "method": "PUT", "body": "text"],
            ["url": "https://h/", "session": "films", "method": "PATCH", "json": ["a": [1, nil]]],
            ["url": "https://h/", "session": "films", "credentials": ["type": "bearer", "token": "t"]],
            [
                "url": "https://h/", "session": "films",
                "credentials": ["type": "basic", "username": "u", "password": ""],
            ],
        ] as [JSON]) func bodiesAndCredentialsSurviveARoundTrip(_ json: JSON) throws
    {
        #expect(try job(json).request == json)
    }

    @Test func aSessionSurvivesARoundTrip() throws {
        func read(_ json: JSON) throws -> SessionConfiguration {
            var reader = FieldReader(json.objectValue ?? [:])
            let configuration = try SessionConfiguration(reading: &reader)
            try reader.finish()
            return configuration
        }
        let configuration = try read(Self.session)
        #expect(configuration.proxy?.username == "us@er" && configuration.proxy?.password == "p:w")
        #expect(configuration.request == Self.session, "\(configuration.request.written)")
        #expect(try read(configuration.request) == configuration)
        #expect(SessionConfiguration().request == [:])
    }

    @Test func withoutSecretsALineNamesWhatItLacks() throws {
        var spec = try job(Self.job).spec
        spec.url = "https://user:pass@h/1?q=1"
        let stored = StoredQueue.Item.job(
            Job(id: JobID("job_1"), session: Name(trusted: "films"), batch: 1, spec: spec, createdAt: Date()))
        let plain = ExportLine(withSecrets: false).line(stored)
        let text = plain.written
        for secret in ["pass", "secret", "\"p\"", "\"form\""] { #expect(!text.contains(secret), "\(text)") }
        #expect(text.contains("https://h/1?q=1") && text.contains("X-A"))
        #expect(plain.objectValue?["missing"] == ["url", "headers", "credentials", "body"])
        let complete = ExportLine(withSecrets: true).line(stored)
        #expect(complete.objectValue?["missing"] == [] && complete.written.contains("user:pass@"))
    }
}
