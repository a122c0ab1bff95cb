package cluster

import (
	"context"
	"path/filepath"

	"github.com/nav-watchdog/nav-watchdog/e2e/process"
)

// add starts a part under a name; its log is NAME.log.
func (c *Cluster) add(name, bin string, args ...string) error {
	p := &process.Process{
		Name: name, Bin: filepath.Join(c.o.Bin, bin), Args: args,
		Env: c.env, Log: filepath.Join(c.o.Dir, name+".log"),
	}
	if filepath.IsAbs(bin) {
		p.Bin = bin
	}
	if err := p.Start(); err != nil {
		return err
	}
	c.order = append(c.order, name)
	c.parts[name] = p
	return nil
}

// await polls until ok says nil, and watches that the part lives.
func (c *Cluster) await(ctx context.Context, name string, ok func(context.Context) error) error {
	return c.parts[name].Await(ctx, ok)
}
