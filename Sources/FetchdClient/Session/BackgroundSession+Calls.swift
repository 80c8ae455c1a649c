import Foundation

/// Makes delegate calls, one at a time.
extension BackgroundSession {
    func deliver(_ item: JobProgress, to delegate: any BackgroundSessionDelegate) async {
        guard let task = registry.task(ofJob: item.job), let count = task.follow(item.progress), count > 0 else {
            return
        }
        await inTurn {
            await delegate.session(
                self, downloadTask: task, didWriteData: count, totalBytesWritten: item.progress.bytesReceived,
                totalBytesExpectedToWrite: item.progress.bytesExpected ?? -1)
        }
    }

    func make(
        _ call: DelegateCall, for event: Int64, _ delegate: any BackgroundSessionDelegate
    ) async throws(FetchdError) {
        switch call {
        case .resumed(let task, let offset, let expected):
            await inTurn {
                await delegate.session(
                    self, downloadTask: task, didResumeAtOffset: offset, expectedTotalBytes: expected ?? -1)
            }
        case .offline(let task):
            await inTurn { await delegate.session(self, taskIsWaitingForConnectivity: task) }
        case .finished(let task, let file): try await handOut(file, of: task, delegate)
        case .completed(let task, let error):
            // The file was not there any more.
            let error = error ?? task.error
            task.complete(error)
            registry.remove(task)
            await inTurn { await delegate.session(self, task: task, didCompleteWithError: error) }
        case .challenged(let task, let challenge):
            try await store { $0.openedChallenge(event) }
            await inTurn {
                await delegate.session(self, task: task, didReceive: challenge) { self.answer($0, task, event) }
            }
        case .expired(let task, let message):
            try await store { $0.openedChallenge(event) }
            await inTurn {
                await delegate.session(self, task: task, linkDidExpireWithMessage: message) { url in
                    guard let url else { return task.cancel() }
                    self.commands.yield(.supply(JobHelp(url: url.absoluteString), to: task, event: event))
                }
            }
        case .batchFinished(let batch):
            try await store { $0.openedFinish(event) }
            await inTurn {
                await delegate.sessionDidFinishEvents(for: self, batch: batch) {
                    self.updateRecord { $0.answeredFinish(event) }
                    self.commands.yield(.acknowledge)
                }
            }
        }
    }

    private func answer(_ disposition: ChallengeDisposition, _ task: BackgroundDownloadTask, _ event: Int64) {
        switch disposition {
        case .performDefaultHandling: return
        case .cancelAuthenticationChallenge: task.cancel()
        case .useCredential(let credential):
            commands.yield(.supply(JobHelp(credentials: credential), to: task, event: event))
        }
    }

    private func handOut(
        _ file: FinishedFile, of task: BackgroundDownloadTask, _ delegate: any BackgroundSessionDelegate
    ) async throws(FetchdError) {
        if let downloads = configuration.downloadsFolder {
            let location = downloads.appending(path: file.path)
            return await inTurn {
                await delegate.session(self, downloadTask: task, didFinishDownloadingTo: location)
            }
        }
        guard let folder, let job = task.jobIdentifier else { return }
        let location = folder.files.appending(path: "\(job).download")
        do throws(FetchdError) {
            try await service.copy(fileOf: job, size: file.size, to: location)
        } catch {
            if error == .cancelled { throw error }
            task.complete(.refused(error))
            return
        }
        await inTurn { await delegate.session(self, downloadTask: task, didFinishDownloadingTo: location) }
        try? FileManager.default.removeItem(at: location)
    }
}
