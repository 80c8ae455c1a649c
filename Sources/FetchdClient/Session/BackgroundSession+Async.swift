import Foundation

/// The asynchronous interface. It keeps no files and needs no delegate: the positions are the caller's or the service's.
extension BackgroundSession {
    /// Starts a download. When it returns, the download survives a crash of this process and of the service.
    ///
    /// `key` identifies the download within the session for a day: a process that calls again with the same key and URL, for
    /// example after a crash, gets the same download. Nil makes a new one each time.
    public func download(from url: URL, key: String? = nil) async throws(FetchdError) -> Download {
        try await download(DownloadRequest(url: url), key: key)
    }

    /// Starts a download that can use everything that a job of the service can.
    public func download(_ request: DownloadRequest, key: String? = nil) async throws(FetchdError) -> Download {
        _ = try await declare()
        let key = key.map(keyAtService) ?? UUID().uuidString
        let submission = JobSubmission(
            request: request, session: identifier, tag: JobDocument.tagPrefix + key, resumeFrom: nil)
        let job = try await service.persist(
            "POST", "/v1/jobs", body: Wire.encoded(submission), headers: ["Idempotency-Key": key]
        ).decoded(as: JobDocument.self)
        return Download(id: job.id, service: service)
    }

    /// The service limits the length of keys, and knows no sessions there.
    private func keyAtService(_ key: String) -> String {
        PortableSHA256.digest(of: Array("\(identifier)\n\(key)".utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// A download of an earlier process, or of another client.
    public func download(withJob id: String) -> Download { Download(id: id, service: service) }

    /// The events of the session after a position, without an end.
    /// - Parameter position: the `id` of the last event that the caller has processed; 0 for all that exist.
    public func events(after position: Int64) -> SessionEvents {
        SessionEvents(service: service, session: identifier, position: position)
    }

    /// The finishes that are not acknowledged, and all that follow, without an end. Call ``acknowledge(_:)`` when you have
    /// processed one: no process gets it again.
    public var finished: FinishedBatches {
        get async throws(FetchdError) {
            let session = try await declare(acknowledges: true)
            return FinishedBatches(
                events: SessionEvents(
                    service: service, session: identifier, position: session.acknowledgedThrough,
                    type: "session.finished"))
        }
    }

    /// Tells the service that this finish, and all events before it, are processed.
    public func acknowledge(_ batch: FinishedBatch) async throws(FetchdError) {
        _ = try await service.persist("POST", path + "/acknowledge", body: Wire.encoded(["through": batch.event]))
    }
}
