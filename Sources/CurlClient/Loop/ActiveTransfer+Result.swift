import CCurl

/// The result of a transfer that has ended.
extension ActiveTransfer {
    /// The outcome for a result code of libcurl, unless the outcome was decided before libcurl ended.
    func outcome(for code: CURLcode) -> TransferResult.Outcome {
        if let outcome { return outcome }
        if code == CURLE_OK { return head == nil ? .failed(.protocolError("no response head")) : .completed }
        return .failed(TransferError(code, of: self))
    }

    func result(_ outcome: TransferResult.Outcome) -> TransferResult {
        TransferResult(outcome: outcome, head: head, bytesReceived: bytesReceived, metrics: metrics())
    }

    private func metrics() -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.remoteAddress = connectionState.remoteAddress
        metrics.protocolVersion = head?.httpVersion
        metrics.redirectURL = head?.redirectTarget(from: request.url)
        metrics.bodyEndKnown = head?.marksBodyEnd(method: request.method) ?? false
        metrics.numConnects = easy.long(CURLINFO_NUM_CONNECTS) ?? 0
        metrics.total = fromStart(CURLINFO_TOTAL_TIME_T)
        measureSteps(&metrics)
        return metrics
    }

    /// libcurl measures all times from its own start. The lookup of the name happens before that.
    private func fromStart(_ info: CURLINFO) -> Duration? {
        easy.duration(info).map { $0 + (lookupTime ?? .zero) }
    }

    /// The duration of a step is the difference between two times that libcurl reports.
    private func measureSteps(_ metrics: inout TransferMetrics) {
        let named = easy.duration(CURLINFO_NAMELOOKUP_TIME_T)
        let connected = easy.duration(CURLINFO_CONNECT_TIME_T)
        let secured = easy.duration(CURLINFO_APPCONNECT_TIME_T)
        metrics.nameLookup = lookupTime ?? named
        if let named, let connected { metrics.connect = max(.zero, connected - named) }
        if let connected, let secured { metrics.tls = max(.zero, secured - connected) }
        if head != nil { metrics.timeToFirstByte = fromStart(CURLINFO_STARTTRANSFER_TIME_T) }
    }
}

extension EasyHandle {
    /// nil if the transfer did not reach this point, for which libcurl reports 0.
    fileprivate func duration(_ info: CURLINFO) -> Duration? {
        guard let microseconds = offset(info), microseconds > 0 else { return nil }
        return .microseconds(microseconds)
    }
}
