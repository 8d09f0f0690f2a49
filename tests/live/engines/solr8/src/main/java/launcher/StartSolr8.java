package launcher;

import org.apache.solr.client.solrj.embedded.JettySolrRunner;

/** One standalone Solr 8 on 127.0.0.1. Arguments: PORT HOMEDIR. */
public final class StartSolr8 {

  public static void main(String[] args) throws Exception {
    JettySolrRunner runner = new JettySolrRunner(args[1], "/solr", Integer.parseInt(args[0]));
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        runner.stop();
      } catch (Exception error) {
        error.printStackTrace();
      }
    }));
    runner.start();
    System.out.println("Solr up at " + runner.getBaseUrl());
    Thread.currentThread().join();
  }

  private StartSolr8() {}
}
